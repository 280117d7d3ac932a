/* What the TreadMarks programs share: checks that say where they failed. */
#ifndef TMK_CHECK_H
#define TMK_CHECK_H

#define _GNU_SOURCE 1
#include <Tmk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAYBE_UNUSED __attribute__((unused))

#define CHECK(holds)                                                                          \
	do {                                                                                  \
		if (!(holds)) {                                                               \
			fprintf(stderr, "%s:%d: node %u: not so: %s\n", __FILE__, __LINE__,   \
				Tmk_proc_id, #holds);                                         \
			_exit(1);                                                             \
		}                                                                             \
	} while (0)

#define GIVES(wanted, value)                                                                  \
	do {                                                                                  \
		long wanted_ = (long)(wanted), got_ = (long)(value);                          \
		if (wanted_ != got_) {                                                        \
			fprintf(stderr, "%s:%d: node %u: %s is %ld, not %ld\n", __FILE__,     \
				__LINE__, Tmk_proc_id, #value, got_, wanted_);                \
			_exit(1);                                                             \
		}                                                                             \
	} while (0)

static struct Tmk_stat MAYBE_UNUSED stat_now(void)
{
	struct Tmk_stat s;

	CHECK(Tmk_statistics(&s) == 0);
	return s;
}

/* Shared memory that all know: process 0 makes it and distributes where it is. */
static char *shared_pointer;

static void MAYBE_UNUSED *share(unsigned size)
{
	char *mine;

	if (Tmk_proc_id == 0) {
		shared_pointer = Tmk_malloc(size);
		CHECK(shared_pointer != NULL);
		Tmk_distribute((char *)&shared_pointer, sizeof shared_pointer);
	}
	Tmk_barrier(0);
	mine = shared_pointer;
	/* Before the next is shared. */
	Tmk_barrier(0);
	return mine;
}

/* Whether there is a protocol: else all have the same memory, and most counts stay 0. */
static int MAYBE_UNUSED with_protocol(void)
{
	struct Tmk_stat before = stat_now(), after;

	Tmk_barrier(1);
	after = stat_now();
	return Tmk_nprocs > 1 && after.messages != before.messages;
}

static double MAYBE_UNUSED now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void MAYBE_UNUSED all_well(void)
{
	Tmk_barrier(0);
	if (Tmk_proc_id == 0)
		printf("all well\n");
	Tmk_exit(0);
}

#endif
