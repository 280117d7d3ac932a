/*
 * Ten thousand messages of mixed sizes between each pair of three tasks come in
 * the order they were sent, also while the program changes its route (argument
 * `switch`).
 */
#include "check.h"

#define TASKS 3
#define MESSAGES 10000
#define BURST 50
#define TAG 1
#define START 2

static char data[300000], got[300000];

static int length_of(int at)
{
	/* Mostly short, some of a frame or two, a few that are streamed or pulled. */
	if (at % 500 == 499)
		return 250000 + at % 1000;
	if (at % 50 == 49)
		return 9000 + at;
	return (at * 7919) % 700;
}

static const int routes[] = { PvmDontRoute, PvmRouteDirect, PvmAllowDirect };

static void put(int tid, int at, int switching)
{
	int length = length_of(at);

	if (switching && at % 7 == 0)
		CHECK(pvm_setopt(PvmRoute, routes[at / 7 % 3]) > 0);
	memset(data, at & 0x7f, (size_t)length);
	CHECK(pvm_initsend(at % 3) > 0);
	OK(pvm_pkint(&at, 1, 1));
	OK(pvm_pkbyte(data, length, 1));
	OK(pvm_send(tid, TAG));
}

static void get(int tid, int at)
{
	int number, bytes, length = length_of(at);
	int bufid = hear(tid, TAG);

	OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
	OK(pvm_upkint(&number, 1, 1));
	GIVES(at, number);
	/* XDR fills bytes up to four. */
	GIVES((at % 3 == PvmDataDefault ? (length + 3) / 4 * 4 : length) + 4, bytes);
	OK(pvm_upkbyte(got, length, 1));
	for (int i = 0; i < length; i++)
		if (got[i] != (at & 0x7f))
			GIVES(at & 0x7f, got[i]);
}

static void talk(const int *tids, int me, int switching)
{
	for (int at = 0; at < MESSAGES; at += BURST) {
		for (int i = at; i < at + BURST; i++)
			for (int t = 0; t < TASKS; t++)
				if (t != me)
					put(tids[t], i, switching);
		for (int t = 0; t < TASKS; t++)
			for (int i = at; t != me && i < at + BURST; i++)
				get(tids[t], i);
	}
}

int main(int argc, char **argv)
{
	int tids[TASKS], me = 0;
	int copy = argc > 1 && strncmp(argv[1], "copy", 4) == 0;
	int switching = argc > 1 && strstr(argv[1], "switch") != NULL;

	if (copy) {
		CHECK(pvm_recv(pvm_parent(), START) > 0);
		OK(pvm_upkint(tids, TASKS, 1));
		while (tids[me] != pvm_mytid())
			me++;
		talk(tids, me, switching);
		OK(pvm_exit());
		return 0;
	}
	tids[0] = pvm_mytid();
	copies(argv[0], switching ? "copy-switch" : "copy", TASKS - 1, tids + 1);
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkint(tids, TASKS, 1));
	OK(pvm_mcast(tids + 1, TASKS - 1, START));
	talk(tids, 0, switching);
	ends(TASKS - 1);
	return 0;
}
