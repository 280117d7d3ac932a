/* Sending and receiving: every way to ask for a message, between three tasks. */
#include "check.h"

#include <time.h>

enum { GO = 1, WORD, PLAIN, DONE };

static void send_int(int tid, int tag, int value)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(tid, tag));
}

static int take_int(int bufid, int *tid, int *tag)
{
	int value, bytes;

	CHECK(bufid > 0);
	OK(pvm_bufinfo(bufid, &bytes, tag, tid));
	GIVES(4, bytes);
	OK(pvm_upkint(&value, 1, 1));
	return value;
}

/* Sends what it is asked to: tag and value until the tag is 0. */
static void child(void)
{
	int parent = pvm_parent(), what[2];
	double reals[1000], back[1000];

	for (;;) {
		CHECK(pvm_recv(parent, GO) > 0);
		OK(pvm_upkint(what, 2, 1));
		if (!what[0])
			break;
		send_int(parent, what[0], what[1]);
	}
	for (int i = 0; i < 1000; i++)
		reals[i] = i * 0.5;
	OK(pvm_psend(parent, PLAIN, reals, 1000, PVM_DOUBLE));
	OK(pvm_psend(parent, PLAIN, reals, 0, PVM_DOUBLE));
	OK(pvm_psend(parent, PLAIN, reals, 10, PVM_DOUBLE));
	CHECK(pvm_recv(parent, PLAIN) > 0);
	OK(pvm_upkdouble(back, 1000, 1));
	CHECK(memcmp(reals, back, sizeof reals) == 0);
	pvm_initsend(PvmDataRaw);
	OK(pvm_pkdouble(reals, 1000, 1));
	OK(pvm_send(parent, DONE));
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkbyte("xyz", 3, 1));
	OK(pvm_send(parent, DONE));
	/* The multicast. */
	GIVES(77, take_int(pvm_recv(-1, WORD), NULL, NULL));
	send_int(parent, DONE, 1);
	OK(pvm_exit());
}

static void ask(int tid, int tag, int value)
{
	int what[2] = { tag, value };

	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(what, 2, 1));
	OK(pvm_send(tid, GO));
}

static void wildcards(const int *tids)
{
	int tid, tag;

	/* The other one's message, and the one with the other tag, stay where they are. */
	ask(tids[0], 10, 100);
	ask(tids[0], 11, 101);
	ask(tids[1], 12, 200);
	GIVES(200, take_int(hear(tids[1], -1), &tid, &tag));
	CHECK(tid == tids[1] && tag == 12);
	GIVES(101, take_int(hear(-1, 11), &tid, &tag));
	GIVES(tids[0], tid);
	GIVES(100, take_int(hear(-1, -1), &tid, &tag));
	GIVES(10, tag);
	GIVES(0, pvm_nrecv(-1, 10));
	GIVES(0, pvm_probe(tids[0], -1));

	/* A message that was probed keeps its buffer's id. */
	int found;
	ask(tids[0], 13, 300);
	while ((found = pvm_probe(-1, 13)) == 0)
		usleep(100);
	CHECK(found > 0);
	OK(pvm_bufinfo(found, NULL, &tag, &tid));
	CHECK(tid == tids[0] && tag == 13);
	GIVES(found, pvm_probe(tids[0], -1));
	GIVES(found, pvm_recv(-1, 13));
	GIVES(300, take_int(found, NULL, NULL));
	GIVES(0, pvm_probe(-1, 13));

	ask(tids[1], 14, 400);
	while ((found = pvm_nrecv(tids[1], 14)) == 0)
		usleep(100);
	GIVES(400, take_int(found, NULL, NULL));
}

static void timed(const int *tids)
{
	struct timeval none = { 0, 0 }, short_while = { 0, 30000 }, long_while = { 20, 0 }, wrong = { 0, 1000000 };
	struct timespec before, after;

	GIVES(0, pvm_trecv(-1, 99, &none));
	clock_gettime(CLOCK_MONOTONIC, &before);
	GIVES(0, pvm_trecv(-1, 99, &short_while));
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK((after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec >= 30000000);
	ask(tids[0], 15, 500);
	GIVES(500, take_int(pvm_trecv(tids[0], 15, &long_while), NULL, NULL));
	ask(tids[0], 15, 501);
	GIVES(501, take_int(pvm_trecv(tids[0], 15, NULL), NULL, NULL));
	pvm_setopt(PvmAutoErr, 0);
	GIVES(PvmBadParam, pvm_trecv(-1, 99, &wrong));
	pvm_setopt(PvmAutoErr, 1);
}

static void plain(int tid)
{
	double reals[1000] = { 0 };
	int from, tag, bytes;

	OK(pvm_precv(tid, -1, reals, 1000, PVM_DOUBLE, &from, &tag, &bytes));
	CHECK(from == tid && tag == PLAIN && bytes == 8000 && reals[999] == 499.5);
	OK(pvm_precv(-1, PLAIN, reals, 1000, PVM_DOUBLE, &from, &tag, &bytes));
	GIVES(0, bytes);
	/* A message that is too long for the array is cut; its length says so. */
	memset(reals, 0, sizeof reals);
	OK(pvm_precv(tid, PLAIN, reals, 4, PVM_DOUBLE, NULL, NULL, &bytes));
	GIVES(80, bytes);
	CHECK(reals[3] == 1.5 && reals[4] == 0);
	for (int i = 0; i < 1000; i++)
		reals[i] = i * 0.5;
	/* psend with recv, and send with precv. */
	OK(pvm_psend(tid, PLAIN, reals, 1000, PVM_DOUBLE));
	double back[1000];
	OK(pvm_precv(tid, DONE, back, 1000, PVM_DOUBLE, NULL, NULL, NULL));
	CHECK(memcmp(reals, back, sizeof back) == 0);
	char text[3];
	OK(pvm_precv(tid, DONE, text, 3, PVM_BYTE, NULL, NULL, &bytes));
	CHECK(bytes == 4 && memcmp(text, "xyz", 3) == 0);
}

static void contexts(void)
{
	int self = pvm_mytid();

	GIVES(PvmBaseContext, pvm_getcontext());
	GIVES(0, pvm_setcontext(4711));
	GIVES(4711, pvm_getcontext());
	send_int(self, 5, 1);
	GIVES(4711, pvm_setcontext(0));
	GIVES(0, pvm_nrecv(-1, -1));
	send_int(self, 5, 2);
	GIVES(2, take_int(pvm_recv(self, 5), NULL, NULL));
	GIVES(0, pvm_setcontext(4711));
	GIVES(1, take_int(pvm_recv(-1, -1), NULL, NULL));
	GIVES(4711, pvm_setcontext(0));
	/* As PVM, any number is taken. */
	GIVES(0, pvm_setcontext(-1));
	GIVES(-1, pvm_setcontext(0));
}

int main(int argc, char **argv)
{
	int tids[3], value = 77;

	if (argc > 1) {
		child();
		return 0;
	}
	copies(argv[0], "child", 2, tids);
	wildcards(tids);
	timed(tids);
	contexts();
	for (int i = 0; i < 2; i++) {
		ask(tids[i], 0, 0);
		plain(tids[i]);
	}
	/* To both, and to the caller itself: that is left out. */
	tids[2] = pvm_mytid();
	pvm_initsend(PvmDataInPlace);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_mcast(tids, 3, WORD));
	GIVES(1, take_int(hear(tids[0], DONE), NULL, NULL));
	GIVES(1, take_int(hear(tids[1], DONE), NULL, NULL));
	GIVES(0, pvm_nrecv(-1, WORD));
	ends(2);
	return 0;
}
