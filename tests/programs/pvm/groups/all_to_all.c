/*
 * Very many peers: each of COUNT tasks sends to all others, at once and in turns, and receives from anyone; nothing is lost,
 * doubled or out of order, and a sleeper among many is woken by each.
 */
#include "check.h"

enum { MOST = 200, GO = 1, DATA, DONE, ROUNDS = 5 };

static int tids[MOST], count, me;

static void part(void)
{
	int next[MOST] = { 0 }, from, number, tid;

	CHECK(pvm_recv(pvm_parent(), GO) > 0);
	OK(pvm_upkint(&count, 1, 1));
	OK(pvm_upkint(tids, count, 1));
	for (me = 0; tids[me] != pvm_mytid(); me++)
		;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 1; i < count; i++) {
			/* Some are behind others: they find what has come, or sleep and are woken. */
			if (round == 2 && i % 16 == me % 16)
				usleep(1000);
			CHECK(pvm_initsend(PvmDataRaw) > 0);
			OK(pvm_pkint(&me, 1, 1));
			OK(pvm_pkint(&round, 1, 1));
			OK(pvm_send(tids[(me + i) % count], DATA));
		}
	for (int left = ROUNDS * (count - 1); left > 0; left--) {
		CHECK(pvm_recv(-1, DATA) > 0);
		OK(pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &tid));
		OK(pvm_upkint(&from, 1, 1));
		OK(pvm_upkint(&number, 1, 1));
		CHECK(from >= 0 && from < count && tids[from] == tid);
		GIVES(next[from], number);
		next[from]++;
	}
	GIVES(0, pvm_nrecv(-1, DATA));
	/* Now one after the other, each asleep until its turn comes. */
	if (me > 0)
		CHECK(pvm_recv(-1, DONE) > 0);
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_send(me + 1 < count ? tids[me + 1] : pvm_parent(), DONE));
}

int main(int argc, char **argv)
{
	CHECK(pvm_mytid() > 0);
	if (argc > 1 && strcmp(argv[1], "part") == 0) {
		part();
	} else {
		count = argc > 1 ? atoi(argv[1]) : 60;
		CHECK(count > 1 && count <= MOST);
		copies(argv[0], "part", count, tids);
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkint(&count, 1, 1));
		OK(pvm_pkint(tids, count, 1));
		OK(pvm_mcast(tids, count, GO));
		hear(tids[count - 1], DONE);
		ends(count);
		SAY("done");
	}
	OK(pvm_exit());
	return 0;
}
