/* What each PVM program of the comparison does with its tasks, whatever it measures. */
#ifndef TASKS_PVM_H
#define TASKS_PVM_H

/* PVM's calls return a negative number when they fail; `call` names it. */
int pvm_ok(int result, const char *call);

/* From now on, when this program fails, the tasks of the table end with it (those whose tid is there by then): PVM would let them wait for
   it for ever. The table stays the caller's, and must stay. */
void tasks_end_together(const int *tids, int tasks);

/* Starts the tasks 1.. from this program's own file, with its own arguments: in blocks of neighbours on the hosts that there are, the first
   here, as mpirun places them. The tid of task 0, who calls this, is in the table; those of the others come there. */
void tasks_spawn(int *tids, int tasks, int argc, char **argv);

/* Has each pair of tasks make its direct connection, one pair at a time; every task calls this. When both sides of a pair begin to talk while
   they connect, PVM 3.4.6 now and then lets a message overtake the one before it: seen over networks, where connecting takes a while. */
void tasks_connect(const int *tids, int tasks, int me);

#endif
