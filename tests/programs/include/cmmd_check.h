/* What the CMMD programs share: checks that say where they failed, and the counters of this task. */
#ifndef CMMD_CHECK_H
#define CMMD_CHECK_H

#define _GNU_SOURCE 1
#include <cmmd.h>
#include <parvum.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAYBE_UNUSED __attribute__((unused))

#define CHECK(holds)                                                                           \
	do {                                                                                   \
		if (!(holds)) {                                                                \
			fprintf(stderr, "%s:%d: node %d: not so: %s (errno %d)\n", __FILE__,   \
				__LINE__, CMMD_self_address(), #holds, CMMD_get_errno());      \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

#define GIVES(wanted, call)                                                                    \
	do {                                                                                   \
		long wanted_ = (long)(wanted), got_ = (long)(call);                            \
		if (wanted_ != got_) {                                                         \
			fprintf(stderr, "%s:%d: node %d: %s gives %ld, not %ld (errno %d)\n",  \
				__FILE__, __LINE__, CMMD_self_address(), #call, got_, wanted_, \
				CMMD_get_errno());                                             \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

/* For calls that must fail, with that number. */
#define FAILS(number, call)                                                                    \
	do {                                                                                   \
		GIVES(CMMD_ERRVAL, call);                                                      \
		GIVES(number, CMMD_get_errno());                                               \
	} while (0)

static double MAYBE_UNUSED now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static struct parvum_totals MAYBE_UNUSED totals(void)
{
	struct parvum_totals t = { .size = sizeof t };

	CHECK(parvum_totals(&t) == 0);
	return t;
}

#endif
