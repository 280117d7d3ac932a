/* 64 tasks, more than there are cores: barriers, a ring, and everybody to everybody. */
#include "check.h"

#define TASKS 64
#define GROUP "many"
enum { RING = 1, ALL };

int main(int argc, char **argv)
{
	int tids[TASKS], value, first = argc == 1;

	if (first)
		copies(argv[0], "member", TASKS - 1, tids);
	int me = pvm_joingroup(GROUP);
	OK(pvm_barrier(GROUP, TASKS));
	for (int i = 0; i < TASKS; i++)
		tids[i] = pvm_gettid(GROUP, i);
	for (int i = 0; i < 5; i++)
		OK(pvm_barrier(GROUP, TASKS));
	/* Three times round. */
	for (int round = 0; round < 3; round++) {
		value = round;
		if (me != 0) {
			CHECK(pvm_recv(tids[me - 1], RING) > 0);
			OK(pvm_upkint(&value, 1, 1));
			GIVES(round + me - 1, value);
			value++;
		}
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&value, 1, 1));
		OK(pvm_send(tids[(me + 1) % TASKS], RING));
		if (me == 0) {
			CHECK(pvm_recv(tids[TASKS - 1], RING) > 0);
			OK(pvm_upkint(&value, 1, 1));
			GIVES(round + TASKS - 1, value);
		}
	}
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&me, 1, 1));
	OK(pvm_mcast(tids, TASKS, ALL));
	long sum = me;
	for (int i = 1; i < TASKS; i++) {
		CHECK(pvm_recv(-1, ALL) > 0);
		OK(pvm_upkint(&value, 1, 1));
		sum += value;
	}
	GIVES(TASKS * (TASKS - 1) / 2, sum);
	OK(pvm_barrier(GROUP, TASKS));
	if (first)
		ends(TASKS - 1);
	OK(pvm_exit());
	return 0;
}
