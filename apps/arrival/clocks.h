/* One clock for the processes of several hosts: process 0's. */
#ifndef CLOCKS_H
#define CLOCKS_H

#include "../teams/team.h"

/* Finds what this process adds to its own clock to get process 0's, and by how much that may be wrong at most. Processes of one
   kernel share a clock; between kernels, and if `estimate` is set, the quickest of many round trips bounds the difference. */
void clocks_compare(const struct team *team, int estimate);

/* Process 0's clock, and its greatest error over all processes (process 0 alone knows the latter). */
int64_t clock_ns(void);
int64_t clock_error_ns(void);

#endif
