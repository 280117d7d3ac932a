#include "pass_pvm.h"

#include <pvm3.h>

void pass_send(int to, double *data, int count)
{
    if (team_psend) {
        pvm_ok(pvm_psend(team_tids[to], TAG_DATA, data, count, PVM_DOUBLE), "pvm_psend");
        return;
    }
    pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
    if (count > 0) pvm_ok(pvm_pkdouble(data, count, 1), "pvm_pkdouble");
    pvm_ok(pvm_send(team_tids[to], TAG_DATA), "pvm_send");
}

void pass_recv(int from, double *data, int count)
{
    if (team_psend) {
        pvm_ok(pvm_precv(team_tids[from], TAG_DATA, data, count, PVM_DOUBLE, NULL, NULL, NULL), "pvm_precv");
        return;
    }
    pvm_ok(pvm_recv(team_tids[from], TAG_DATA), "pvm_recv");
    if (count > 0) pvm_ok(pvm_upkdouble(data, count, 1), "pvm_upkdouble");
}

void pass_await(int from)
{
    while (pvm_ok(pvm_probe(team_tids[from], TAG_DATA), "pvm_probe") == 0) { }
}
