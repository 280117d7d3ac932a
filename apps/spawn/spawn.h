/* Starting tasks from inside a program: from the call until the first message of the last of them is there. */
#ifndef SPAWN_H
#define SPAWN_H

#include "../common/bench.h"

/* Starts `tasks` tasks of this program and hears from each; ends them and hears that too. */
void spawn_tasks(int tasks);
void spawn_end(int tasks);

/* The whole of the first task. */
void spawn_run(const struct options *options, const char *face);

#endif
