/* The ring: one message goes round the tasks, each passing on what it received. With two tasks, one hop is the half
   round trip. ring.c decides what is measured; ring_pvm.c, ring_mpi.c and ring_engine.c pass the message as their users would. */
#ifndef RING_H
#define RING_H

#include "../teams/team.h"

/* Passes one message of `count` doubles; between them lies everything a program pays for a message. */
void ring_send(int to, double *data, int count);
void ring_recv(int from, double *data, int count);

#endif
