/* The parallel FFT in NX. */
#include "fft.h"

#include <nx.h>

void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent)
{
    long bytes = (long)points * (long)sizeof *mine, info[8];
    int64_t begun = now_ns();
    csend(TAG_DATA, mine, bytes, partner, 0);
    int64_t sent = now_ns();
    crecvx(TAG_DATA, theirs, bytes, partner, -1, info);
    spent->wait += now_ns() - sent;
    spent->communication += sent - begun;
}
