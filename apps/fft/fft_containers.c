/* The parallel FFT through message containers: one for each partner, so that a partner of the next stage who is early
   waits in its own. PVM starts the team. */
#include "../teams/containers.h"
#include "fft.h"

void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent)
{
    size_t bytes = (size_t)points * sizeof *mine;
    ch_container *from = container_from(partner);
    ch_representative *to = container_of(partner);
    int64_t begun = now_ns();
    container_ok(ch_send(to, mine, bytes, NULL), "ch_send");
    int64_t sent = now_ns();
    container_ok(ch_receive(from, theirs, bytes, NULL), "ch_receive");
    spent->wait += now_ns() - sent;
    spent->communication += sent - begun;
}
