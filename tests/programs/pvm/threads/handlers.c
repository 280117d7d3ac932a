/* Functions of the program that PVM calls: message handlers, a match function, caught output; and
 * descriptors to wait for. */
#include "check.h"
#include <poll.h>

enum { NORMAL = 1, HANDLED, SLOW, OUT = 4242 };

static int me, calls, sum, context_seen;

static void send_to(int tid, int tag, int value)
{
	int before = pvm_setsbuf(pvm_mkbuf(PvmDataDefault));

	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(tid, tag));
	OK(pvm_freebuf(pvm_setsbuf(before)));
}

static int take(int bufid)
{
	int value = 0;

	CHECK(bufid > 0);
	OK(pvm_upkint(&value, 1, 1));
	return value;
}

/* Handlers may call PVM; what they find and leave as buffers and context is their own. */
static int on_message(int bufid)
{
	int value;

	GIVES(bufid, pvm_getrbuf());
	GIVES(0, pvm_getsbuf());
	context_seen = pvm_getcontext();
	OK(pvm_upkint(&value, 1, 1));
	calls++;
	sum += value;
	if (value == 100)
		send_to(me, NORMAL, 7); /* a handler that sends */
	return 0;
}

static void handlers(void)
{
	int id = pvm_addmhf(-1, HANDLED, -1, on_message), other, sbuf, rbuf, own;

	CHECK(id > 0);
	GIVES(PvmExists, pvm_addmhf(-1, HANDLED, -1, on_message));
	GIVES(PvmExists, pvm_addmhf(me, HANDLED, 0, on_message));
	other = pvm_addmhf(me, HANDLED + 1000, 5, on_message);
	CHECK(other > 0 && other != id);
	send_to(me, NORMAL, 1);
	GIVES(1, take(pvm_recv(me, NORMAL)));
	rbuf = pvm_getrbuf();
	sbuf = pvm_initsend(PvmDataDefault);
	send_to(me, HANDLED, 10);
	GIVES(0, pvm_nrecv(-1, HANDLED)); /* handled, not received */
	GIVES(1, calls);
	GIVES(rbuf, pvm_getrbuf());
	GIVES(sbuf, pvm_getsbuf());
	/* In any context; and the context of the program stays. */
	own = pvm_setcontext(9);
	send_to(me, HANDLED, 20);
	pvm_setcontext(own);
	GIVES(0, pvm_nrecv(-1, -1));
	GIVES(2, calls);
	GIVES(9, context_seen);
	GIVES(own, pvm_getcontext());
	/* One that answers a message with a message wakes the receive that waits for it. */
	send_to(me, HANDLED, 100);
	GIVES(7, take(pvm_recv(-1, NORMAL)));
	GIVES(130, sum);
	OK(pvm_delmhf(id));
	GIVES(PvmNotFound, pvm_delmhf(id));
	GIVES(PvmBadParam, pvm_delmhf(-1));
	GIVES(PvmBadParam, pvm_addmhf(-1, 77, -1, NULL));
	send_to(me, HANDLED, 3);
	GIVES(3, take(pvm_recv(-1, HANDLED)));
	OK(pvm_delmhf(other));
}

/* The largest tag first. */
static int by_rank(int bufid, int tid, int tag)
{
	int its_tag, from;

	OK(pvm_bufinfo(bufid, NULL, &its_tag, &from));
	if ((tid != -1 && tid != from) || (tag != -1 && tag != its_tag))
		return 0;
	return its_tag + 1;
}

static int refusing(int bufid, int tid, int tag)
{
	(void)bufid, (void)tid, (void)tag;
	return PvmDenied;
}

static void matching(void)
{
	int (*pvms)(int, int, int) = pvm_recvf(by_rank), value = 0, from, tag, length;
	struct timeval soon = { 0, 20000 };

	CHECK(pvms != NULL && pvms != by_rank);
	for (int at = 1; at <= 3; at++)
		send_to(me, 10 * at, at);
	GIVES(3, take(pvm_recv(-1, -1)));
	GIVES(1, take(pvm_recv(me, 10)));
	int probed = pvm_probe(-1, -1);
	CHECK(probed > 0);
	GIVES(probed, pvm_recv(-1, -1));
	GIVES(2, take(probed));
	GIVES(0, pvm_nrecv(-1, -1));
	GIVES(0, pvm_trecv(-1, -1, &soon));
	pvm_initsend(PvmDataRaw);
	value = 55;
	for (int at = 5; at < 8; at++, value++) {
		OK(pvm_psend(me, at, &value, 1, PVM_INT));
	}
	OK(pvm_precv(-1, -1, &value, 1, PVM_INT, &from, &tag, &length));
	CHECK(value == 57 && from == me && tag == 7 && length == 4);
	CHECK(pvm_recvf(refusing) == by_rank);
	GIVES(PvmDenied, pvm_nrecv(-1, -1));
	CHECK(pvm_recvf(pvms) == refusing);
	CHECK(pvm_recvf(NULL) == pvms);
	CHECK(pvm_recv(-1, 5) > 0 && pvm_recv(-1, 6) > 0);
}

static void output(char *self)
{
	char *args[] = { "writer", NULL }, line[128];
	int tid, ended = 0, begun = 0, length = 0, head[2], written = 0;
	FILE *file = tmpfile();

	/* As messages. */
	GIVES(0, pvm_getopt(PvmOutputTid));
	GIVES(0, pvm_setopt(PvmOutputTid, me));
	GIVES(0, pvm_setopt(PvmOutputCode, OUT));
	GIVES(PvmBadParam, pvm_setopt(PvmOutputTid, me + 1));
	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, &tid));
	while (!ended) {
		CHECK(pvm_recv(-1, OUT) > 0);
		OK(pvm_upkint(head, 2, 1));
		GIVES(tid, head[0]);
		if (head[1] > 0) {
			CHECK((size_t)(length + head[1]) < sizeof line);
			OK(pvm_upkbyte(line + length, head[1], 1));
			length += head[1];
			written = 1;
		} else {
			begun += head[1] < 0;
			ended = head[1] == 0;
		}
	}
	line[length] = 0;
	CHECK(begun == 2 && written && strcmp(line, "first\nsecond, unended") == 0);

	/* Printed. */
	CHECK(file != NULL);
	GIVES(me, pvm_setopt(PvmOutputTid, 0));
	OK(pvm_catchout(file));
	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, &tid));
	OK(pvm_exit());
	rewind(file);
	char expected[4][64];
	sprintf(expected[0], "[t%x] BEGIN\n", tid);
	sprintf(expected[1], "[t%x] first\n", tid);
	sprintf(expected[2], "[t%x] second, unended\n", tid);
	sprintf(expected[3], "[t%x] EOF\n", tid);
	for (int at = 0; at < 4; at++) {
		CHECK(fgets(line, sizeof line, file) != NULL);
		if (strcmp(line, expected[at]) != 0)
			fprintf(stderr, "printed %s", line);
		CHECK(strcmp(line, expected[at]) == 0);
	}
	CHECK(fgets(line, sizeof line, file) == NULL);
	fclose(file);
	me = pvm_mytid();
}

/* A program that waits in poll(2) wakes for each message, and only looks when it wakes. */
static void descriptors(char *self)
{
	char *args[] = { "slow", NULL };
	int tid, *fds, count = pvm_getfds(&fds), got = 0;
	struct pollfd polled[16];

	CHECK(count > 0 && count <= 16);
	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, &tid));
	while (got < 5) {
		count = pvm_getfds(&fds);
		for (int at = 0; at < count; at++)
			polled[at] = (struct pollfd){ fds[at], POLLIN, 0 };
		CHECK(poll(polled, (nfds_t)count, 10000) > 0);
		while (pvm_nrecv(tid, SLOW) > 0)
			GIVES(++got, take(pvm_getrbuf()));
	}
}

/* So does one that asks for the descriptors, or does something else, after the message has come. */
static void come_already(void)
{
	int *fds, count = 0;
	struct pollfd polled[16];

	for (int round = 0; round < 20; round++) {
		send_to(me, SLOW, round);
		for (int again = 0; again < 2; again++) {
			count = pvm_getfds(&fds);
			CHECK(count > 0 && count <= 16);
		}
		for (int at = 0; at < count; at++)
			polled[at] = (struct pollfd){ fds[at], POLLIN, 0 };
		CHECK(poll(polled, (nfds_t)count, 10000) > 0);
		CHECK(pvm_nrecv(me, SLOW) > 0);
		GIVES(round, take(pvm_getrbuf()));
		/* And it sleeps when all has been looked at: only news of the machine may still wake it. */
		int wakes = 0;
		do {
			CHECK(wakes++ < 100);
			/* The daemon may have been interrupted between its word and the sign that there is one. */
			if (wakes > 1)
				usleep(1000);
			GIVES(0, pvm_nrecv(me, SLOW));
			count = pvm_getfds(&fds);
			for (int at = 0; at < count; at++)
				polled[at] = (struct pollfd){ fds[at], POLLIN, 0 };
		} while (poll(polled, (nfds_t)count, 0) > 0);
	}
}

int main(int argc, char **argv)
{
	pvm_setopt(PvmAutoErr, 0);
	me = pvm_mytid();
	if (argc > 1 && strcmp(argv[1], "writer") == 0) {
		printf("first\nsecond, unended");
		fflush(stdout);
	} else if (argc > 1) {
		for (int at = 1; at <= 5; at++) {
			usleep(3000);
			send_to(pvm_parent(), SLOW, at);
		}
	} else {
		handlers();
		matching();
		output(argv[0]);
		descriptors(argv[0]);
		come_already();
	}
	OK(pvm_exit());
	return 0;
}
