/* Counts the instructions and system calls of the calling thread, as a debugger does: a second process steps through them.
   Counts do not move with the load of a machine, and virtual machines often have no counters of their own. A processor's counter of
   cache misses is read too if the kernel offers it. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

struct counter {
    int64_t instructions, calls;
    int64_t misses;         /* -1: the kernel offers no such counter */
};

/* Starts the process that steps. To be called before the library under test begins, which may change signals and limits. */
void counter_open(void);

/* From here on this thread is stepped through, a few microseconds an instruction; ends the program if the kernel refuses. */
void counter_attach(void);
void counter_detach(void);

/* The counts until now, while attached. A difference of two readings counts what lies between, and three instructions more. */
struct counter counter_now(void);

/* Cache misses of this thread until now, at full speed; -1 if the kernel offers no such counter. */
int64_t counter_misses(void);

/* Ends the process that steps. */
void counter_close(void);

#endif
