/* Arguments that cannot be, and tasks that are not: a clear error each, and nothing happens. */
#include "check.h"

int main(void)
{
	int me = pvm_mytid(), value = 1, tids[2], bytes;
	/* A task of this host that never was, one of a host that never was, and what is no task. */
	int never = (me & ~0x3ffff) | 0x3fffe, elsewhere = 0x7fc0001, daemon = pvm_tidtohost(me);
	struct timeval negative = { -1, 0 };

	pvm_setopt(PvmAutoErr, 0);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(never, 1));
	OK(pvm_send(elsewhere, 1));
	GIVES(PvmBadParam, pvm_send(0, 1));
	GIVES(PvmBadParam, pvm_send(-1, 1));
	GIVES(PvmBadParam, pvm_send(daemon, 1));
	GIVES(PvmBadParam, pvm_send(me, -1));
	GIVES(PvmBadParam, pvm_send(me, -2147483647 - 1));
	GIVES(PvmBadParam, pvm_psend(me, 1, &value, -1, PVM_INT));
	GIVES(PvmBadParam, pvm_psend(me, 1, &value, 1, 12));
	GIVES(PvmBadParam, pvm_psend(me, 1, NULL, 1, PVM_INT));
	GIVES(PvmBadParam, pvm_psend(-1, 1, &value, 1, PVM_INT));
	GIVES(PvmBadParam, pvm_psend(me, -1, &value, 1, PVM_INT));
	OK(pvm_psend(never, 1, &value, 1, PVM_INT));
	GIVES(PvmBadParam, pvm_mcast(NULL, 1, 1));
	GIVES(PvmBadParam, pvm_mcast(tids, -1, 1));
	OK(pvm_mcast(tids, 0, 1));
	tids[0] = me;
	tids[1] = -7;
	GIVES(PvmBadParam, pvm_mcast(tids, 2, 1));
	GIVES(PvmBadParam, pvm_mcast(tids, 1, -1));
	/* One that is gone keeps the message from nobody. */
	tids[1] = never;
	OK(pvm_mcast(tids, 2, 1));
	GIVES(0, pvm_nrecv(-1, -1));

	GIVES(PvmBadParam, pvm_recv(-2, 1));
	GIVES(PvmBadParam, pvm_recv(0, 1));
	GIVES(PvmBadParam, pvm_recv(me, -2));
	GIVES(PvmBadParam, pvm_nrecv(-3, 1));
	GIVES(PvmBadParam, pvm_probe(me, -2));
	GIVES(PvmBadParam, pvm_trecv(me, 1, &negative));
	GIVES(PvmBadParam, pvm_precv(me, 1, &value, -1, PVM_INT, NULL, NULL, NULL));
	GIVES(PvmBadParam, pvm_precv(me, 1, NULL, 1, PVM_INT, NULL, NULL, NULL));
	GIVES(PvmBadParam, pvm_precv(me, 1, &value, 1, -1, NULL, NULL, NULL));
	GIVES(PvmNoSuchBuf, pvm_bufinfo(4711, &bytes, NULL, NULL));
	GIVES(PvmBadParam, pvm_bufinfo(-4, &bytes, NULL, NULL));

	/* After all that the program goes on as if nothing had been. */
	OK(pvm_send(me, 2147483647));
	CHECK(pvm_recv(me, 2147483647) > 0);
	value = 0;
	OK(pvm_upkint(&value, 1, 1));
	GIVES(1, value);
	return 0;
}
