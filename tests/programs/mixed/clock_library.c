/*
 * A wrong clock: preloaded into a program, it sets what the program hears of the time of day ahead by so many
 * seconds, CLOCK_AHEAD. Clocks that only count from somewhere stay as they are.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t ahead(void)
{
	const char *said = getenv("CLOCK_AHEAD");

	return said ? atol(said) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int failed = (int)syscall(SYS_clock_gettime, clock, now);

	if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += ahead();
	return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec time;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &time))
		return -1;
	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *slot)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (slot)
		*slot = now.tv_sec;
	return now.tv_sec;
}
