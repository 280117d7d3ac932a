/* PVM begins a send, which it buffers. The receive comes at the end. */
#include "overlap.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>

const char *const overlap_names[] = { "exchange", NULL };

void overlap_begin(struct overlap *overlap, int what)
{
    (void)what;
    pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
    pvm_ok(pvm_pkdouble(overlap->out, overlap->count, 1), "pvm_pkdouble");
    pvm_ok(pvm_send(team_tids[overlap->partner], TAG_DATA), "pvm_send");
}

void overlap_end(struct overlap *overlap, int what)
{
    (void)what;
    pvm_ok(pvm_recv(team_tids[overlap->partner], TAG_DATA), "pvm_recv");
    pvm_ok(pvm_upkdouble(overlap->in, overlap->count, 1), "pvm_upkdouble");
}
