/* Messages between nodes, one thing at a time: started as three nodes. */
#include "nx_check.h"

enum { LONG = 1 << 20 };
static char data[LONG], room[LONG];

/* A message of 1 MB to a node that neither asks for it nor calls NX; then the memory is used again. */
static void sends_do_not_wait(long me)
{
	gsync();
	if (me == 0) {
		memset(data, 'a', LONG);
		csend(1, data, LONG, 1, 0);
		memset(data, 'b', LONG);
		csend(2, data, 1, 1, 0);
	} else if (me == 1) {
		crecv(2, room, 1);
		GIVES('b', room[0]);
		compute(30);
		crecv(1, room, LONG);
		for (long i = 0; i < LONG; i++)
			CHECK(room[i] == 'a');
	}
	/* The same to each other, and before either receives. */
	gsync();
	if (me < 2) {
		csend(3, data, LONG, 1 - me, 0);
		csend(3, data, LONG, 1 - me, 0);
		crecv(3, room, LONG);
		crecv(3, room, LONG);
	}
	gsync();
}

static void lengths_and_probes(long me)
{
	static const long lengths[] = { 0, 1, 100, 101, 5000, LONG };

	for (int i = 0; i < 6; i++) {
		long length = lengths[i], info[8];

		if (me == 0) {
			csend(10 + i, data, length, 1, 0);
		} else if (me == 1) {
			cprobe(10 + i);
			GIVES(length, infocount());
			GIVES(10 + i, infotype());
			GIVES(0, infonode());
			GIVES(0, infoptype());
			GIVES(1, iprobe(10 + i));
			GIVES(0, iprobe(99));
			cprobex(10 + i, 0, -1, info);
			CHECK(info[0] == 10 + i && info[1] == length && info[2] == 0 && info[3] == 0);
			GIVES(0, iprobex(10 + i, 2, -1, info));
			GIVES(1, iprobex(-1, 0, 0, info));
			/* A buffer as long as the message is long enough. */
			crecv(10 + i, room, length);
			GIVES(length, infocount());
			GIVES(0, iprobe(10 + i));
		}
		gsync();
	}
}

static void selecting(long me, long nodes)
{
	long info[8], number = me;

	if (me != 0)
		csend(20, &number, sizeof number, 0, 0);
	else {
		/* By sender, the last one first. */
		for (long from = nodes - 1; from > 0; from--) {
			crecvx(20, &number, sizeof number, from, -1, info);
			CHECK(number == from && info[2] == from && info[1] == sizeof number);
		}
	}
	gsync();
	/* To all others, and only once; to a list. */
	number = 77;
	if (me == 1)
		csend(21, &number, sizeof number, -1, 0);
	else {
		number = 0;
		crecv(21, &number, sizeof number);
		CHECK(number == 77 && infonode() == 1);
	}
	gsync();
	GIVES(0, iprobe(-1));
	gsync();
	if (me == 0) {
		long list[] = { 2, 0 };

		gsendx(22, &number, sizeof number, list, 2);
		crecv(22, &number, sizeof number);
	} else if (me == 2)
		crecv(22, &number, sizeof number);
	gsync();
	GIVES(0, iprobe(-1));
	gsync();
	/* A set of types: 1 and 3; then all above 29. */
	if (me == 0) {
		for (long type = 1; type <= 3; type++)
			csend(type, &type, sizeof type, 1, 0);
		csend(30, &number, sizeof number, 1, 0);
	} else if (me == 1) {
		long odd = (long)(int)(0x80000000u | 1 << 1 | 1 << 3), high = (long)(int)0xc0000000u;

		crecv(high, room, LONG);
		GIVES(30, infotype());
		crecv(odd, room, LONG);
		GIVES(1, infotype());
		crecv(odd, room, LONG);
		GIVES(3, infotype());
		GIVES(0, iprobe(odd));
		crecv(-1, room, LONG);
		GIVES(2, infotype());
	}
	gsync();
}

static void identifiers(long me)
{
	static long ids[NX_IDS], numbers[NX_IDS];
	long merged = -1, info[8];

	/* All there are, and no more. */
	for (int i = 0; i < NX_IDS; i++)
		CHECK((ids[i] = irecv(40, &numbers[i], sizeof(long))) >= 0);
	FAILS(EQNOMID, _irecv(40, room, 8));
	FAILS(EQNOMID, _isend(40, room, 8, me, 0));
	/* Each way gives them back. */
	msgcancel(ids[0]);
	CHECK((ids[0] = irecv(40, &numbers[0], sizeof(long))) >= 0);
	long own = 1;
	csend(40, &own, sizeof own, me, 0);
	csend(40, &own, sizeof own, me, 0);
	CHECK(numbers[0] == 0);
	/* Posted before: the second and third, for the first was posted again. */
	msgwait(ids[1]);
	GIVES(sizeof(long), infocount());
	while (!msgdone(ids[2]))
		;
	FAILS(EQMID, _msgwait(ids[1]));
	FAILS(EQMID, _msgdone(ids[2]));
	CHECK((ids[1] = irecv(40, &numbers[1], sizeof(long))) >= 0);
	CHECK((ids[2] = irecv(40, &numbers[2], sizeof(long))) >= 0);
	FAILS(EQNOMID, _irecv(40, room, 8));
	/* Given up, they come back when their message has come. */
	msgignore(ids[3]);
	FAILS(EQMID, _msgwait(ids[3]));
	csend(40, &own, sizeof own, me, 0);
	ids[3] = irecv(40, &numbers[3], sizeof(long));
	CHECK(numbers[3] == 1);
	for (int i = 0; i < NX_IDS; i++)
		msgcancel(ids[i]);
	FAILS(EQMID, _msgcancel(ids[5]));
	/* A chain of merges waits for all. */
	CHECK((ids[5] = irecvx(41, &numbers[5], sizeof(long), me, -1, info)) >= 0);
	GIVES(ids[5], msgmerge(-1, ids[5]));
	GIVES(ids[5], msgmerge(ids[5], -1));
	msgcancel(ids[5]);
	for (int i = 0; i < 10; i++) {
		numbers[i] = 0;
		merged = msgmerge(merged, irecv(42 + i, &numbers[i], sizeof(long)));
	}
	for (long i = 0; i < 10; i++) {
		GIVES(0, msgdone(merged));
		csend(42 + i, &i, sizeof i, me, 0);
	}
	msgwait(merged);
	for (int i = 0; i < 10; i++)
		GIVES(i, numbers[i]);
	FAILS(EQMID, _msgmerge(merged, -1));
	/* An id of a send, of an exchange. */
	long out = isend(60, data, LONG, me, 0), in = irecvx(60, room, LONG, me, -1, info);
	msgwait(msgmerge(out, in));
	CHECK(info[0] == 60 && info[1] == LONG && info[2] == me);
	long both = isendrecv(61, data, 10, me, 0, 61, room, LONG);
	msgwait(both);
	GIVES(10, infocount());
	gsync();
}

static void exchanges(long me)
{
	long number = me;

	if (me == 0) {
		GIVES(sizeof number, csendrecv(70, &number, sizeof number, 1, 0, 71, &number, sizeof number));
		GIVES(5, number);
	} else if (me == 1) {
		crecv(70, &number, sizeof number);
		number = 5;
		csend(71, &number, sizeof number, infonode(), infoptype());
	}
	gsync();
}

/* Twins: -1, and the number of each error. */
static void refusals(long me)
{
	long nodes = numnodes(), info[8];

	csend(80, data, 100, me, 0);
	FAILS(EQMSGLONG, _crecv(80, room, 99));
	csend(80, data, 100, me, 0);
	long id = irecv(80, room, 99);
	FAILS(EQMSGLONG, _msgwait(id));
	FAILS(EQMID, _msgwait(id));
	id = irecv(81, room, 99);
	csend(81, data, LONG, me, 0);
	FAILS(EQMSGLONG, _msgdone(id));
	FAILS(EQPBUF, _csend(1, NULL, 1, me, 0));
	FAILS(EQPBUF, _crecv(1, NULL, 1));
	FAILS(EQPBUF, _irecv(1, NULL, 1));
	FAILS(EQPBUF, _isend(1, NULL, 1, me, 0));
	FAILS(EQPBUF, _gsendx(1, data, 1, NULL, 1));
	FAILS(EQPBUF, nx_buffering(NULL));
	FAILS(EQLEN, _csend(1, data, -1, me, 0));
	FAILS(EQLEN, _crecv(1, data, -1));
	FAILS(EQBLEN, _csend(1, data, 1L << 60, me, 0));
	FAILS(EQBLEN, _gisum((long *)data, 1L << 62, (long *)room));
	FAILS(EQNODE, _csend(1, data, 1, nodes + 1, 0));
	FAILS(EQNODE, _csend(1, data, 1, -2, 0));
	FAILS(EQNODE, _isend(1, data, 1, nodes + 1, 0));
	FAILS(EQNODE, _crecvx(1, data, 1, nodes + 1, -1, info));
	FAILS(EQNODE, _killproc(nodes + 1, 0));
	FAILS(EQPID, _csend(1, data, 1, me, -1));
	FAILS(EQPID, _crecvx(1, data, 1, me, -2, info));
	FAILS(EQPID, _setptype(-1));
	FAILS(EQTYPE, _csend(-1, data, 1, me, 0));
	FAILS(EQTYPE, _csend(1000000000, data, 1, me, 0));
	FAILS(EQTYPE, _csend(2000000000, data, 1, me, 0));
	FAILS(EQTYPE, _crecv(2000000000, data, 1));
	FAILS(EQTYPE, _cprobe(1000000000));
	FAILS(EQMID, _msgwait(-1));
	FAILS(EQMID, _msgdone(NX_IDS * 5));
	FAILS(EQMID, _msgignore(123456789));
	FAILS(EQHND, _hrecv(1, data, 1, NULL));
	FAILS(EQHND, _hsend(1, data, 1, me, 0, NULL));
	FAILS(EQHND, _gopf(data, 8, room, NULL));
	FAILS(EQSET, _setptype(3));
	FAILS(EQPARAM, _masktrap(2));
	FAILS(EQPARAM, _gray(-1));
	GIVES(0, _csend(82, data, 4, me, 0));
	GIVES(0, _crecv(82, room, 4));
	gsync();
}

/* A force message is received by who waits for it, and else is nothing. */
static void forced(long me)
{
	struct nx_buffering before, after;
	long number = 1;

	gsync();
	nx_buffering(&before);
	gsync();
	if (me == 0) {
		csend(NX_FORCE + 1, data, LONG, 1, 0);
		csend(NX_FORCE + 1, &number, sizeof number, 1, 0);
	} else if (me == 1) {
		compute(20);
	}
	gsync();
	nx_buffering(&after);
	GIVES(me == 1 ? 2 : 0, after.dropped - before.dropped);
	if (me == 1) {
		long first = irecv(NX_FORCE + 2, room, LONG), second = irecv(NX_FORCE + 3, &number, sizeof number);

		csend(90, NULL, 0, 0, 0);
		long any = irecv(-1, data, LONG);
		msgwait(first);
		msgwait(second);
		GIVES(4, number);
		GIVES(0, iprobe(-1));
		GIVES(0, msgdone(any));
		msgcancel(any);
		nx_buffering(&after);
		GIVES(0, after.buffered - before.buffered);
		CHECK(after.direct - before.direct >= LONG);
	} else if (me == 0) {
		crecv(90, NULL, 0);
		number = 4;
		csend(NX_FORCE + 2, data, LONG, 1, 0);
		csend(NX_FORCE + 3, &number, sizeof number, 1, 0);
	}
	gsync();
}

int main(void)
{
	long me = mynode(), nodes = numnodes();

	GIVES(3, nodes);
	GIVES(2, nodedim());
	GIVES(nodes, myhost());
	GIVES(0, myptype());
	GIVES(0, mypid());
	for (long i = 0; i < 5000; i++) {
		GIVES(i, ginv(gray(i)));
		GIVES(1, __builtin_popcountl(gray(i) ^ gray(i + 1)));
	}
	unsigned long began = mclock();
	double then = dclock();
	compute(5);
	CHECK(mclock() - began >= 4 && dclock() - then >= 0.004);
	flick();

	sends_do_not_wait(me);
	lengths_and_probes(me);
	selecting(me, nodes);
	identifiers(me);
	exchanges(me);
	refusals(me);
	forced(me);
	gsync();
	printf("node %ld: all well\n", me);
	return 0;
}
