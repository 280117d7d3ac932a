/* Handlers: while the program computes, while it waits, held back, sending themselves. Two nodes. */
#include "nx_check.h"

static volatile long entered, seen_type, seen_count, seen_node, seen_extra, seen_number;
static long number, answer;
static char room[1 << 20];

static void note(long type, long count, long node, long ptype)
{
	seen_type = type, seen_count = count, seen_node = node;
	CHECK(ptype == 0);
	seen_number = number;
	entered++;
}

static void note_extra(long type, long count, long node, long ptype, long extra)
{
	seen_extra = extra;
	note(type, count, node, ptype);
}

/* Serves requests: each is answered from inside the handler, which asks for the next. */
static void serve(long type, long count, long node, long ptype)
{
	long doubled = 2 * number;

	CHECK(count == sizeof number && ptype == 0);
	csend(type + 1, &doubled, sizeof doubled, node, 0);
	entered++;
	hrecv(type, &number, sizeof number, serve);
}

static void await(long wanted)
{
	double until = dclock() + 20;

	while (entered < wanted)
		CHECK(dclock() < until);
}

static void receiver(void)
{
	/* While it computes, never near NX. */
	hrecv(1, &number, sizeof number, note);
	csend(100, NULL, 0, 1, 0);
	await(1);
	CHECK(seen_type == 1 && seen_count == sizeof number && seen_node == 1 && seen_number == 11);
	/* One posting, one entry: the second message is an ordinary one. */
	csend(100, NULL, 0, 1, 0);
	cprobe(1);
	compute(5);
	GIVES(1, entered);
	crecv(1, &number, sizeof number);
	GIVES(12, number);
	/* While it waits for something else. */
	hrecvx(2, room, sizeof room, 1, -1, note_extra, 42);
	csend(100, NULL, 0, 1, 0);
	crecv(3, NULL, 0);
	/* The data of the long one may come after a short one that was sent later. */
	await(2);
	CHECK(seen_type == 2 && seen_count == sizeof room && seen_extra == 42 && room[77] == 'x');
	/* Held back. */
	GIVES(0, masktrap(1));
	GIVES(1, masktrap(1));
	hrecv(4, &number, sizeof number, note);
	csend(100, NULL, 0, 1, 0);
	crecv(5, NULL, 0);
	compute(20);
	GIVES(2, entered);
	GIVES(1, masktrap(0));
	GIVES(3, entered);
	GIVES(4, seen_type);
	GIVES(0, masktrap(0));
	/* Taken away: the message is an ordinary one. */
	hrecv(6, &number, sizeof number, note);
	hrecv(6, NULL, 0, NULL);
	csend(100, NULL, 0, 1, 0);
	crecv(6, &number, sizeof number);
	GIVES(3, entered);
	/* Sends with a handler; of a short one and of a long one to a node that computes. */
	hsend(7, &number, sizeof number, 1, 0, note);
	await(4);
	CHECK(seen_type == 7 && seen_node == 0);
	hsendx(7, room, sizeof room, 1, 0, note_extra, 43);
	await(5);
	GIVES(43, seen_extra);
	hsendrecv(8, &number, sizeof number, 1, 0, 9, &answer, sizeof answer, note);
	await(6);
	CHECK(seen_type == 9 && answer == 99);
}

static void sender(void)
{
	number = 11;
	crecv(100, NULL, 0);
	compute(10);
	csend(1, &number, sizeof number, 0, 0);
	crecv(100, NULL, 0);
	number = 12;
	csend(1, &number, sizeof number, 0, 0);
	crecv(100, NULL, 0);
	memset(room, 'x', sizeof room);
	csend(2, room, sizeof room, 0, 0);
	compute(10);
	csend(3, NULL, 0, 0, 0);
	crecv(100, NULL, 0);
	csend(4, &number, sizeof number, 0, 0);
	csend(5, NULL, 0, 0, 0);
	crecv(100, NULL, 0);
	csend(6, &number, sizeof number, 0, 0);
	crecv(7, room, sizeof room);
	compute(20);
	crecv(7, room, sizeof room);
	crecv(8, &number, sizeof number);
	number = 99;
	csend(9, &number, sizeof number, 0, 0);
}

int main(void)
{
	gsync();
	if (mynode() == 0)
		receiver();
	else
		sender();
	gsync();
	/* A server by handlers, while its program computes, and while it waits for all others. */
	entered = 0;
	if (mynode() == 0) {
		hrecv(20, &number, sizeof number, serve);
		csend(30, NULL, 0, 1, 0);
		await(500);
		csend(30, NULL, 0, 1, 0);
		gsync();
		GIVES(1000, entered);
	} else {
		for (long half = 0; half < 2; half++) {
			crecv(30, NULL, 0);
			for (long i = 0; i < 500; i++) {
				csend(20, &i, sizeof i, 0, 0);
				crecv(21, &answer, sizeof answer);
				GIVES(2 * i, answer);
			}
		}
		gsync();
	}
	printf("node %ld: all well\n", mynode());
	return 0;
}
