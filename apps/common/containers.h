/* A container for each task of a team that PVM has started, and the way to the others'. */
#ifndef CONTAINERS_TEAM_H
#define CONTAINERS_TEAM_H

#include "team.h"

#include <containers.h>

/* This task's own container; what leads to another task's, looked up once. */
ch_container *container_own(void);
ch_representative *container_of(int task);

/* Ends the program unless a call has done what it was asked to. */
void container_ok(long result, const char *call);

#endif
