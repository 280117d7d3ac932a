/* What the test programs share: checks that say where they failed. */
#ifndef CHECK_H
#define CHECK_H

#define _GNU_SOURCE 1	/* usleep, process_vm_readv: beside C11 */
#include <stdio.h>	/* before pvm3.h: for pvm_catchout */
#include <pvm3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAYBE_UNUSED __attribute__((unused))

/* Ends the program unless it holds. */
#define CHECK(holds)                                                                       \
	do {                                                                               \
		if (!(holds)) {                                                            \
			fprintf(stderr, "%s:%d: not so: %s (pvm_errno %d)\n", __FILE__,    \
				__LINE__, #holds, pvm_errno);                              \
			_exit(1);                                                          \
		}                                                                          \
	} while (0)

/* Ends the program unless the call returns this. */
#define GIVES(wanted, call)                                                                \
	do {                                                                               \
		long wanted_ = (long)(wanted), got_ = (long)(call);                        \
		if (wanted_ != got_) {                                                     \
			fprintf(stderr, "%s:%d: %s gives %ld, not %ld\n", __FILE__,        \
				__LINE__, #call, got_, wanted_);                           \
			_exit(1);                                                          \
		}                                                                          \
	} while (0)

/* For calls that must succeed. */
#define OK(call) GIVES(PvmOk, call)

/* Starts copies of this program with one argument, and asks to be told of their ends. */
#define TAG_ENDED 990099
static void MAYBE_UNUSED copies(char *self, char *role, int count, int *tids)
{
	char *args[] = { role, NULL };

	/* A copy that could not learn whose it is must not take itself for the first, and start copies of its own. */
	CHECK(pvm_parent() != PvmSysErr);
	GIVES(count, pvm_spawn(self, args, PvmTaskDefault, NULL, count, tids));
	OK(pvm_notify(PvmTaskExit, TAG_ENDED, count, tids));
}

/* Receives; a copy that ends before it has spoken is a failure, told when the others have had a minute. */
static int MAYBE_UNUSED hear(int tid, int tag)
{
	struct timeval often = { 0, 20000 }, last = { 60, 0 };
	int bufid;

	while ((bufid = pvm_trecv(tid, tag, &often)) == 0)
		if (pvm_probe(-1, TAG_ENDED) > 0) {
			bufid = pvm_trecv(tid, tag, &last);
			break;
		}
	CHECK(bufid > 0);
	return bufid;
}

/* Waits for the ends of the copies. */
static void MAYBE_UNUSED ends(int count)
{
	for (; count > 0; count--)
		CHECK(pvm_recv(-1, TAG_ENDED) > 0);
}

/* Says something to the test at once. */
#define SAY(...)                                                                           \
	do {                                                                               \
		printf(__VA_ARGS__);                                                       \
		putchar('\n');                                                             \
		fflush(stdout);                                                            \
	} while (0)

/* Waits for a line from the test. */
static void MAYBE_UNUSED await_test(void)
{
	char line[64];

	CHECK(fgets(line, sizeof line, stdin) != NULL);
}

#endif
