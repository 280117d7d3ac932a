/* Operations of a whole group of tasks: what each system's users would call. */
#ifndef GROUP_H
#define GROUP_H

#include "../teams/team.h"

/* Which of the operations below the system's users have as calls, by their names in the samples. */
extern const char group_operations[];

/* After team_open, with all tasks there; before team_close. */
void group_open(const struct team *team);
void group_close(const struct team *team);

void group_barrier(const struct team *team);

/* `count` doubles of task `root` to all others' `data`. */
void group_broadcast(const struct team *team, double *data, int count, int root);

/* The sum of all tasks' `mine`, element by element, to the root's `sum`. */
void group_reduce(const struct team *team, const double *mine, double *sum, int count, int root);

/* Each task's `count` doubles, in task order, to the root's `all`. */
void group_gather(const struct team *team, const double *mine, double *all, int count, int root);

/* The same two with the result on all tasks. */
void group_allreduce(const struct team *team, const double *mine, double *sum, int count);
void group_allgather(const struct team *team, const double *mine, double *all, int count);

/* The part of `mine` that is meant for each task, `count` doubles, to its place in that task's `all`. */
void group_alltoall(const struct team *team, const double *mine, double *all, int count);

#endif
