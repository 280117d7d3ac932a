/* The exchange in PVM, which posts nothing: in the forms that would, its receive comes after the computation. */
#include "exchange.h"
#include "../teams/pass_pvm.h"

#include <pvm3.h>

static struct { int from; double *data; int count; } receiving;

int exchange_can_post(void) { return 1; }
int exchange_can_force(void) { return 0; }

void exchange_send(int to, double *data, int count)
{
    pass_send(to, data, count);
}

void exchange_receive(int from, double *data, int count)
{
    pass_recv(from, data, count);
}

void exchange_post(int from, double *data, int count, int forced)
{
    (void)forced;
    receiving.from = from;
    receiving.data = data;
    receiving.count = count;
}

void exchange_begin(int to, double *data, int count, int forced)
{
    (void)forced;
    pass_send(to, data, count);
}

void exchange_finish(void)
{
    pass_recv(receiving.from, receiving.data, receiving.count);
}

void exchange_meet(int partner)
{
    pvm_ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    pvm_ok(pvm_send(team_tids[partner], TAG_RESULT + 1), "pvm_send");
    pvm_ok(pvm_recv(team_tids[partner], TAG_RESULT + 1), "pvm_recv");
}
