/* A thread that goes to wait for something, for programs that then do what it waits for. */
#ifndef WAITER_H
#define WAITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct waiter {
	pthread_t thread;
	void (*run)(void);
	atomic_int tid;
};

static void *waiter_begins(void *which)
{
	struct waiter *waiter = which;

	waiter->tid = (int)syscall(SYS_gettid);
	waiter->run();
	return NULL;
}

/* Whether the thread sleeps, as the system has it. */
static int waiter_sleeps(int tid)
{
	char path[64], state = '?';
	FILE *stat;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	if (!(stat = fopen(path, "r")))
		return 1; /* it has ended */
	if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(stat);
	return state == 'S';
}

/* Returns when the thread waits: it was seen asleep several times in a row. */
static void waiter_start(struct waiter *waiter, void (*run)(void))
{
	waiter->run = run;
	waiter->tid = 0;
	if (pthread_create(&waiter->thread, NULL, waiter_begins, waiter)) {
		perror("a thread");
		exit(1);
	}
	for (int seen = 0; seen < 5; usleep(1000))
		seen = waiter->tid && waiter_sleeps(waiter->tid) ? seen + 1 : 0;
}

static void waiter_end(struct waiter *waiter)
{
	pthread_join(waiter->thread, NULL);
}

#endif
