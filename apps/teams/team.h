/* A team of tasks numbered from 0, under whichever message-passing system the program was built for. The programs
   measure; a team only says who they are and carries small control messages between them. */
#ifndef TEAM_H
#define TEAM_H

#include "../common/bench.h"

struct team {
    int task;           /* my number                       */
    int tasks;          /* how many we are                 */
    const char *face;   /* "pvm" or "mpi", for the samples */
};

enum { TAG_TEAM = 1, TAG_CONTROL, TAG_DATA, TAG_RESULT };

/* Enrols, starts the other tasks where that is the program's own business (PVM), pins this task. */
void team_open(struct team *team, struct options *options, int *argc, char ***argv);
void team_close(void);

/* Control messages: never inside a measured interval. */
void team_send(int to, int tag, const int64_t *values, int count);
void team_recv(int from, int tag, int64_t *values, int count);

/* All tasks go on when task 0 has heard of all (together.c). */
void team_wait_for_all(const struct team *team);

#endif
