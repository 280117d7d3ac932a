/* The rate in PVM: each message is packed and sent, received and unpacked. */
#include "rate.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>

void rate_send(int to, double *data, int count, int messages)
{
    for (int i = 0; i < messages; i++) {
        pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
        pvm_ok(pvm_pkdouble(data + i * count, count, 1), "pvm_pkdouble");
        pvm_ok(pvm_send(team_tids[to], TAG_DATA), "pvm_send");
    }
}

void rate_recv(int from, double *data, int count, int messages)
{
    for (int i = 0; i < messages; i++) {
        pvm_ok(pvm_recv(team_tids[from], TAG_DATA), "pvm_recv");
        pvm_ok(pvm_upkdouble(data + i * count, count, 1), "pvm_upkdouble");
    }
}

void rate_answer(int to)
{
    pvm_ok(pvm_initsend(team_encoding), "pvm_initsend");
    pvm_ok(pvm_send(team_tids[to], TAG_RESULT), "pvm_send");
}

void rate_await(int from)
{
    pvm_ok(pvm_recv(team_tids[from], TAG_RESULT), "pvm_recv");
}
