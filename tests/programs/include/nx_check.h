/* What the NX test programs share: checks that say where they failed. */
#ifndef NX_CHECK_H
#define NX_CHECK_H

#define _GNU_SOURCE 1
#include <errno.h>
#include <nx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAYBE_UNUSED __attribute__((unused))

/* Ends the program unless it holds. */
#define CHECK(holds)                                                                           \
	do {                                                                                   \
		if (!(holds)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__,  \
				#holds, errno);                                                \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

/* Ends the program unless the call gives this. */
#define GIVES(wanted, call)                                                                    \
	do {                                                                                   \
		long wanted_ = (long)(wanted), got_ = (long)(call);                            \
		if (wanted_ != got_) {                                                         \
			fprintf(stderr, "%s:%d: %s gives %ld, not %ld (errno %d)\n", __FILE__, \
				__LINE__, #call, got_, wanted_, errno);                        \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

/* Ends the program unless the call fails so. */
#define FAILS(error, call)                                                                     \
	do {                                                                                   \
		errno = 0;                                                                     \
		GIVES(-1, call);                                                               \
		GIVES(error, errno);                                                           \
	} while (0)

/* Computes, far from NX, for so many milliseconds. */
static void MAYBE_UNUSED compute(double milliseconds)
{
	for (double until = dclock() + milliseconds / 1e3; dclock() < until;)
		;
}

#endif
