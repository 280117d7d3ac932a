/* A program leaves the machine, goes on, and comes back as another task. */
#include "check.h"

enum { WORD = 1, GONE };

static void child(void)
{
	int parent = pvm_parent(), first = pvm_mytid(), bytes;
	static char big[3000000];

	/* All that was sent before leaving arrives, large messages as well. */
	memset(big, 'b', sizeof big);
	for (int i = 0; i < 5; i++) {
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(big, i % 2 ? (int)sizeof big : 10, 1));
		OK(pvm_send(parent, WORD));
	}
	OK(pvm_exit());
	GIVES(0, pvm_getsbuf());

	int second = pvm_mytid();
	CHECK(second > 0 && second != first);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&first, 1, 1));
	OK(pvm_send(parent, WORD));
	int bufid = pvm_recv(-1, WORD);
	OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
	GIVES(0, bytes);
	OK(pvm_exit());
}

int main(int argc, char **argv)
{
	int child_tid, tid, first, bytes;
	static char big[3000000];

	if (argc > 1) {
		child();
		return 0;
	}
	GIVES(1, pvm_spawn(argv[0], (char *[]){ "child", NULL }, 0, NULL, 1, &child_tid));
	OK(pvm_notify(PvmTaskExit, GONE, 1, &child_tid));
	/* It is told of the end of a task whose process lives on. */
	CHECK(pvm_recv(-1, GONE) > 0);
	for (int i = 0; i < 5; i++) {
		int bufid = pvm_recv(child_tid, WORD);
		CHECK(bufid > 0);
		OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
		GIVES(i % 2 ? sizeof big : 10, bytes);
		OK(pvm_upkbyte(big, bytes, 1));
		CHECK(big[0] == 'b' && big[bytes - 1] == 'b');
	}
	int bufid = pvm_recv(-1, WORD);
	CHECK(bufid > 0);
	OK(pvm_bufinfo(bufid, NULL, NULL, &tid));
	CHECK(tid != child_tid);
	OK(pvm_upkint(&first, 1, 1));
	GIVES(child_tid, first);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	pvm_setopt(PvmAutoErr, 0);
	OK(pvm_send(child_tid, WORD)); /* it is gone */
	OK(pvm_send(tid, WORD));
	OK(pvm_notify(PvmTaskExit, GONE, 1, &tid));
	CHECK(pvm_recv(-1, GONE) > 0);
	OK(pvm_exit());
	/* Leaving twice enrols in between; nothing is left to say. */
	OK(pvm_exit());
	return 0;
}
