/*
 * Does as its first argument says, tells the test what happens line by line, and
 * waits for lines from it: for tests in which somebody dies.
 *
 *	stay				until a line comes
 *	receive FROM			one message; says what the call returned
 *	poll MICROSECONDS		asks for messages until a call fails, waiting so long each time
 *	barrier COUNT			in the barrier of a group
 *	stream TO BYTES COUNT		sends so many messages, until one fails
 *	drain FROM COUNT BURST		receives so many, in bursts with rests between them
 *	collect COUNT			receives so many from whomever; says what the last call returned
 *	parent COUNT			starts copies that wait for a message from it
 *	talk COUNT			exchanges messages with as many copies
 */
#include "check.h"

#define TAG 1

static void end_on_line(void)
{
	char line[64];

	if (!fgets(line, sizeof line, stdin))
		_exit(0);
}

static void stream(int to, long bytes, int count)
{
	char *data = calloc(1, (size_t)bytes + 1);
	int info = 0, sent = 0;

	for (; sent < count && info >= 0; sent += info >= 0) {
		if (pvm_initsend(PvmDataRaw) < 0)
			break;
		memcpy(data, &sent, bytes < 4 ? (size_t)bytes : 4);
		OK(pvm_pkbyte(data, (int)bytes, 1));
		info = pvm_send(to, TAG);
		if (sent == 0)
			SAY("streaming");
	}
	SAY("sent %d", sent);
	SAY("info %d", info);
}

static void drain(int from, int count, int burst)
{
	int number, bytes;

	for (int i = 0; i < count; i++) {
		/* At rest it takes in what comes, and wants none of it. */
		for (int rest = 0; i % burst == 0 && rest < 20; rest++) {
			GIVES(0, pvm_probe(-1, TAG + 1));
			usleep(100);
		}
		int bufid = pvm_recv(from, TAG);
		if (bufid < 0) {
			SAY("info %d", bufid);
			return;
		}
		OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
		OK(pvm_upkbyte((char *)&number, 4, 1));
		GIVES(i, number);
	}
	SAY("info 0");
}

/* A copy of `talk`: sends back what it gets. */
static void echo(void)
{
	static char data[20000];
	int bytes;

	for (int i = 0; i < 4; i++) {
		OK(pvm_bufinfo(pvm_recv(pvm_parent(), TAG), &bytes, NULL, NULL));
		OK(pvm_upkbyte(data, bytes, 1));
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, bytes, 1));
		OK(pvm_send(pvm_parent(), TAG));
	}
	pvm_recv(pvm_parent(), TAG);
}

static void talk(char *self, int count)
{
	static char data[20000];
	static const int sizes[] = { 0, 100, 5000, 20000 };
	int tids[64];

	copies(self, "echo", count, tids);
	for (int s = 0; s < 4; s++)
		for (int i = 0; i < count; i++) {
			CHECK(pvm_initsend(PvmDataRaw) > 0);
			OK(pvm_pkbyte(data, sizes[s], 1));
			OK(pvm_send(tids[i], TAG));
			hear(tids[i], TAG);
		}
	SAY("talked");
	end_on_line();
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_mcast(tids, count, TAG));
	ends(count);
}

static int asked_again(long microseconds)
{
	struct timeval limit = { 0, microseconds };
	int bufid;

	do
		bufid = microseconds > 0 ? pvm_trecv(-1, TAG, &limit) : pvm_nrecv(-1, TAG);
	while (bufid == 0);
	return bufid;
}

int main(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";
	long number[3] = { 0 };

	pvm_setopt(PvmAutoErr, 0);
	for (int i = 2; i < argc && i < 5; i++)
		number[i - 2] = atol(argv[i]);
	if (strcmp(role, "echo") == 0) {
		echo();
		return 0;
	}
	if (strcmp(role, "child") == 0) {
		SAY("child %d", pvm_mytid());
		SAY("info %d", pvm_recv(pvm_parent(), TAG));
		return 0;
	}
	SAY("tid %d", pvm_mytid());
	if (strcmp(role, "receive") == 0) {
		SAY("info %d", pvm_recv((int)number[0], TAG));
	} else if (strcmp(role, "poll") == 0) {
		SAY("info %d", asked_again(number[0]));
	} else if (strcmp(role, "barrier") == 0) {
		CHECK(pvm_joingroup("all") >= 0);
		SAY("joined");
		SAY("info %d", pvm_barrier("all", (int)number[0]));
	} else if (strcmp(role, "stream") == 0) {
		stream((int)number[0], number[1], (int)number[2]);
		end_on_line();
	} else if (strcmp(role, "collect") == 0) {
		int bufid = 0;

		await_test();
		while (number[0]-- > 0 && bufid >= 0)
			bufid = pvm_recv(-1, TAG);
		SAY("info %d", bufid < 0 ? bufid : 0);
	} else if (strcmp(role, "drain") == 0) {
		end_on_line();
		drain(number[0] ? (int)number[0] : -1, (int)number[1], (int)number[2]);
		end_on_line();
	} else if (strcmp(role, "parent") == 0) {
		int tids[64];
		GIVES(number[0], pvm_spawn(argv[0], (char *[]){ "child", NULL }, 0, NULL, (int)number[0], tids));
		SAY("spawned");
		end_on_line();
	} else if (strcmp(role, "talk") == 0) {
		talk(argv[0], (int)number[0]);
	} else {
		CHECK(strcmp(role, "stay") == 0);
		end_on_line();
	}
	return 0;
}
