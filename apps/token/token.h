/* The token ring of Saphir's study of buffering: one message goes round the tasks, once with every receive posted before
   its message is sent, once with none. And the copy alone: the time that a buffered message takes to come out of its
   buffer, or into it, in the call that does that. */
#ifndef TOKEN_H
#define TOKEN_H

#include "../teams/team.h"

/* Posts a receive for the next message of `from`; waits until it is there. */
void token_post(int from, double *data, int count);
void token_wait(void);

/* Waits until the message has come, and only then receives it. */
void token_take(int from, double *data, int count);

void token_send(int to, double *data, int count);

/* One message that its receiver does not await, from one side and from the other. Each gives the nanoseconds of its call
   that copies, or 0 where the other side's does. */
int64_t token_copy_send(int to, double *data, int count);
int64_t token_copy_take(int from, double *data, int count);

#endif
