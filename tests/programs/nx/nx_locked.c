/* A handler that wants a lock which the program held when it was stopped, as malloc's or a file's. Two nodes. */
#include "nx_check.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int holds, entered, went_on, came;
static long number, times;

static void wants_the_lock(long type, long count, long node, long ptype)
{
	CHECK(type == 1 && count == sizeof number && node == 1 && ptype == 0);
	/* Else the message was early, and this is inside csend. */
	if (holds) {
		times++;
		entered = 1;
		pthread_mutex_lock(&lock);
		CHECK(went_on);
		pthread_mutex_unlock(&lock);
	}
	/* Calls of ours go on being made. */
	csend(2, &number, sizeof number, 1, 0);
	came = 1;
}

static void interrupted(void)
{
	long goes_on = 1;

	for (long round = 0; times < 5; round++) {
		CHECK(round < 1000);
		holds = entered = went_on = came = 0;
		hrecv(1, &number, sizeof number, wants_the_lock);
		csend(100, &goes_on, sizeof goes_on, 1, 0);
		if (came)
			continue;
		pthread_mutex_lock(&lock);
		holds = 1;
		/* Stopped inside this loop, it is let go on. */
		while (!entered && !came)
			;
		went_on = 1;
		pthread_mutex_unlock(&lock);
		while (!came)
			;
	}
	goes_on = 0;
	csend(100, &goes_on, sizeof goes_on, 1, 0);
}

static void interrupter(void)
{
	for (;;) {
		long goes_on;

		crecv(100, &goes_on, sizeof goes_on);
		if (!goes_on)
			return;
		/* The other is likely to compute by then. */
		compute(2);
		csend(1, &number, sizeof number, 0, 0);
		crecv(2, &number, sizeof number);
	}
}

int main(void)
{
	gsync();
	if (mynode() == 0)
		interrupted();
	else
		interrupter();
	gsync();
	printf("node %ld: all well\n", mynode());
	return 0;
}
