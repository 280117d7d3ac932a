/* A team of MPI's whose program has called MPI_Init_thread itself. */
#ifndef TEAM_MPI_H
#define TEAM_MPI_H

#include "team.h"

/* All of team_open but the beginning of MPI. */
void team_join(struct team *team, struct options *options, int argc, char **argv);

#endif
