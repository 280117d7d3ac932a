/* The parallel FFT over the engine's own interface. */
#include "../teams/engine.h"
#include "fft.h"

void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent)
{
    size_t bytes = (size_t)points * sizeof *mine;
    int64_t begun = now_ns();
    uint64_t request = engine_begin_send(partner, TAG_DATA, mine, bytes);
    int64_t sent = now_ns();
    engine_recv(partner, TAG_DATA, theirs, bytes);
    engine_end_send(request);
    spent->wait += now_ns() - sent;
    spent->communication += sent - begun;
}
