/* PVM's answer to `mpirun -n N PROGRAM`: spawns N tasks of a program and waits until PVM reports their end. */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS_MAX = 64, TAG_EXIT = 1 };

int main(int argc, char **argv)
{
    int tids[TASKS_MAX];
    int tasks = argc == 3 ? atoi(argv[1]) : 0;
    if (tasks < 1 || tasks > TASKS_MAX) {
        fprintf(stderr, "usage: start N PROGRAM\n");
        return 2;
    }
    alarm(60);
    int started = pvm_spawn(argv[2], NULL, PvmTaskDefault, "", tasks, tids);
    if (started != tasks) {
        fprintf(stderr, "start: pvm_spawn started %d of %d tasks\n", started, tasks);
        return 1;
    }
    if (pvm_notify(PvmTaskExit, TAG_EXIT, tasks, tids) < 0) return 1;
    for (int i = 0; i < tasks; i++)
        if (pvm_recv(-1, TAG_EXIT) < 0) return 1;
    pvm_exit();
    return 0;
}
