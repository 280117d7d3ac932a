/* Bytes by PVM. */
#include "share.h"
#include "../teams/team_pvm.h"

#include <pvm3.h>

void share_send(int to, int tag, const void *data, size_t bytes)
{
    pvm_ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    if (bytes > 0) pvm_ok(pvm_pkbyte((char *)data, (int)bytes, 1), "pvm_pkbyte");
    pvm_ok(pvm_send(team_tids[to], tag), "pvm_send");
}

void share_recv(int from, int tag, void *data, size_t bytes)
{
    pvm_ok(pvm_recv(team_tids[from], tag), "pvm_recv");
    if (bytes > 0) pvm_ok(pvm_upkbyte(data, (int)bytes, 1), "pvm_upkbyte");
}

int share_any(int tag, void *data, size_t bytes, int waits)
{
    int message = waits ? pvm_ok(pvm_recv(-1, tag), "pvm_recv") : pvm_ok(pvm_nrecv(-1, tag), "pvm_nrecv");
    if (message == 0) return -1;
    int tid, task = 0;
    pvm_ok(pvm_bufinfo(message, NULL, NULL, &tid), "pvm_bufinfo");
    pvm_ok(pvm_upkbyte(data, (int)bytes, 1), "pvm_upkbyte");
    while (team_tids[task] != tid) task++;
    return task;
}
