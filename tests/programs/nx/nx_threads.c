/* Two threads of a node: one waits, and the other sends what it waits for; and handlers run one at a time, whichever thread
   enters them. Two nodes. */
#include "nx_check.h"
#include "waiter.h"

#include <sched.h>

enum { ASK = 1, ANSWER, OWN, GO, LAST, DONE, HANDLED = 1000 };
#define ROUNDS 300
#define HANDLERS 400

static void wait_in_crecv(void)
{
	long value;

	for (long i = 0; i < ROUNDS; i++) {
		crecv(ANSWER, &value, sizeof value);
		GIVES(i, value);
	}
}

static void wait_in_msgwait(void)
{
	long value;

	for (long i = 0; i < ROUNDS; i++) {
		msgwait(irecv(ANSWER, &value, sizeof value));
		GIVES(i, value);
	}
}

static void wait_in_cprobe(void)
{
	long value;

	for (long i = 0; i < ROUNDS; i++) {
		cprobe(ANSWER);
		crecv(ANSWER, &value, sizeof value);
		GIVES(i, value);
	}
}

static void wait_for_oneself(void)
{
	long value;

	for (long i = 0; i < ROUNDS; i++) {
		crecv(OWN, &value, sizeof value);
		GIVES(i, value);
	}
}

static atomic_int inside, entered;
static long rooms[HANDLERS];

static void one_at_a_time(long type, long count, long node, long ptype)
{
	CHECK(type >= HANDLED && count == sizeof rooms[0] && node == 1 && ptype == 0);
	GIVES(0, atomic_fetch_add(&inside, 1));
	/* Long enough for the other thread to come along. */
	for (int i = 0; i < 3; i++)
		sched_yield();
	GIVES(1, atomic_fetch_sub(&inside, 1));
	entered++;
}

static void wait_for_the_last(void)
{
	crecv(LAST, NULL, 0);
}

static void asks(void)
{
	void (*ways[])(void) = { wait_in_crecv, wait_in_msgwait, wait_in_cprobe };
	struct waiter waiter;

	for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
		waiter_start(&waiter, ways[way]);
		for (long i = 0; i < ROUNDS; i++)
			csend(ASK, &i, sizeof i, 1, 0);
		waiter_end(&waiter);
	}
	waiter_start(&waiter, wait_for_oneself);
	for (long i = 0; i < ROUNDS; i++)
		csend(OWN, &i, sizeof i, 0, 0);
	waiter_end(&waiter);
	for (int i = 0; i < HANDLERS; i++)
		hrecv(HANDLED + i, &rooms[i], sizeof rooms[i], one_at_a_time);
	waiter_start(&waiter, wait_for_the_last);
	csend(GO, NULL, 0, 1, 0);
	wait_for_the_last();
	waiter_end(&waiter);
	while (entered < HANDLERS)
		compute(1);
	/* Each was entered once. */
	compute(2);
	GIVES(HANDLERS, entered);
	csend(DONE, NULL, 0, 1, 0);
}

static void answers(void)
{
	long value;

	for (long i = 0; i < 3 * ROUNDS; i++) {
		crecv(ASK, &value, sizeof value);
		csend(ANSWER, &value, sizeof value, 0, 0);
	}
	crecv(GO, NULL, 0);
	/* The last that was posted first: the others are looked at before it. */
	for (value = HANDLERS; value-- > 0;)
		csend(HANDLED + value, &value, sizeof value, 0, 0);
	csend(LAST, NULL, 0, 0, 0);
	csend(LAST, NULL, 0, 0, 0);
	crecv(DONE, NULL, 0);
}

int main(void)
{
	mynode() == 0 ? asks() : answers();
	puts("all well");
	return 0;
}
