/* The ring in PVM: a message costs what lies between packing it and having it unpacked. */
#include "ring.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>

void ring_send(int to, double *data, int count)
{
    pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
    if (count > 0) pvm_ok(pvm_pkdouble(data, count, 1), "pvm_pkdouble");
    pvm_ok(pvm_send(team_tids[to], TAG_DATA), "pvm_send");
}

void ring_recv(int from, double *data, int count)
{
    pvm_ok(pvm_recv(team_tids[from], TAG_DATA), "pvm_recv");
    if (count > 0) pvm_ok(pvm_upkdouble(data, count, 1), "pvm_upkdouble");
}
