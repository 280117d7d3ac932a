/*
 * Tasks that have exchanged messages, and then all wait: the first for its input, the others for the first.
 * usage: waiters COUNT
 */
#include "check.h"

enum { MOST = 256, ROUND = 1, WAIT, END, ROUNDS = 200 };

static int tids[MOST];

/* One message around all. */
static void round_of(int me, int count)
{
	pvm_initsend(PvmDataRaw);
	if (me > 0)
		CHECK(pvm_recv(tids[me - 1], ROUND) > 0);
	OK(pvm_send(tids[(me + 1) % count], ROUND));
	if (me == 0)
		CHECK(pvm_recv(tids[count - 1], ROUND) > 0);
}

static void wait_for_the_end(void)
{
	int count, me;

	CHECK(pvm_recv(pvm_parent(), WAIT) > 0);
	OK(pvm_upkint(&count, 1, 1));
	OK(pvm_upkint(&me, 1, 1));
	OK(pvm_upkint(tids, count, 1));
	for (int i = 0; i < ROUNDS; i++)
		round_of(me, count);
	CHECK(pvm_recv(tids[0], END) > 0);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	char line[80];

	tids[0] = pvm_mytid();
	if (pvm_parent() > 0) {
		wait_for_the_end();
		OK(pvm_exit());
		return 0;
	}
	CHECK(count >= 2 && count <= MOST);
	GIVES(count - 1, pvm_spawn(argv[0], NULL, PvmTaskDefault, "", count - 1, tids + 1));
	for (int i = 1; i < count; i++) {
		pvm_initsend(PvmDataRaw);
		OK(pvm_pkint(&count, 1, 1));
		OK(pvm_pkint(&i, 1, 1));
		OK(pvm_pkint(tids, count, 1));
		OK(pvm_send(tids[i], WAIT));
	}
	for (int i = 0; i < ROUNDS; i++)
		round_of(0, count);
	printf("wait\n");
	fflush(stdout);
	CHECK(fgets(line, sizeof line, stdin) != NULL);
	pvm_initsend(PvmDataRaw);
	OK(pvm_mcast(tids + 1, count - 1, END));
	OK(pvm_exit());
	return 0;
}
