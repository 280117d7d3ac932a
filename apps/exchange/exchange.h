/* The exchange of Saphir's study: two nodes give each other a message, and compute, again and again. Four forms:

     blocking       compute; send; receive                       both messages may come before their receives
     overlapped     post; begin to send; compute; wait for both  the receive is posted, but maybe not before the other sends
     synchronised   post; meet; begin to send; compute; wait     it is
     forced         as synchronised, with messages that are dropped rather than buffered                               */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "../teams/team.h"

/* The parts, for each interface. A form that it does not have is left out. */
int exchange_can_post(void);
int exchange_can_force(void);
void exchange_send(int to, double *data, int count);
void exchange_receive(int from, double *data, int count);
void exchange_post(int from, double *data, int count, int forced);
void exchange_begin(int to, double *data, int count, int forced);
void exchange_finish(void);
void exchange_meet(int partner);

#endif
