/* The parallel FFT in PVM. */
#include "fft.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>

void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent)
{
    int64_t begun = now_ns();
    pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
    pvm_ok(pvm_pkfloat(&mine->re, 2 * points, 1), "pvm_pkfloat");
    pvm_ok(pvm_send(team_tids[partner], TAG_DATA), "pvm_send");
    int64_t sent = now_ns();
    pvm_ok(pvm_recv(team_tids[partner], TAG_DATA), "pvm_recv");
    int64_t received = now_ns();
    pvm_ok(pvm_upkfloat(&theirs->re, 2 * points, 1), "pvm_upkfloat");
    spent->wait += received - sent;
    spent->communication += (sent - begun) + (now_ns() - received);
}
