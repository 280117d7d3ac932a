/* A team that PVM has started, with a container in each task for each other task, and the way to the others'. */
#ifndef CONTAINERS_TEAM_H
#define CONTAINERS_TEAM_H

#include "team.h"

#include <containers.h>

/* This task's container for what another task sends, made and bound once; what leads to the other's for this one, looked up once. */
ch_container *container_from(int task);
ch_representative *container_of(int task);

/* Ends the program unless a call has done what it was asked to. */
void container_ok(long result, const char *call);

#endif
