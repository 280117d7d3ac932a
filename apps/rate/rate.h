/* Message rate: windows of short messages one way, each answered by one message when all have come. */
#ifndef RATE_H
#define RATE_H

#include "../teams/team.h"

/* The most messages of a window. */
#ifndef RATE_WINDOW
#define RATE_WINDOW 64
#endif

/* Sends, and receives, a window of `window` messages of `count` doubles, the message i at data + i * count. The sends need
   not be over before the reply; how the system's users would send many is each face's own. */
void rate_send(int to, double *data, int count, int messages);
void rate_recv(int from, double *data, int count, int messages);

/* The reply. */
void rate_answer(int to);
void rate_await(int from);

#endif
