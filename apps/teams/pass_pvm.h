/* A message of doubles in each way PVM has: packed (default or raw), in place, or psend, as --encoding says. */
#ifndef PASS_PVM_H
#define PASS_PVM_H

#include "team_pvm.h"

void pass_send(int to, double *data, int count);
void pass_recv(int from, double *data, int count);
void pass_await(int from);    /* until a message has come; it is not received */

#endif
