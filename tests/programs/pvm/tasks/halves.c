/* Senders that are killed at any moment of long messages: who receives from anybody gets whole messages in their order, one
   notice of each end, and no error. */
#include "check.h"

#include <signal.h>
#include <time.h>

enum { LONG = 1, ROUNDS = 40, BYTES = 1 << 20 };

static void stream(int to)
{
	static const int ways[] = { PvmDataRaw, PvmDataInPlace, PvmDataDefault };
	char *data = malloc(BYTES);
	int pid = getpid();

	CHECK(data);
	for (int number = 0;; number++) {
		memset(data, number & 127, BYTES);
		CHECK(pvm_initsend(ways[number % 3]) > 0);
		OK(pvm_pkint(&pid, 1, 1));
		OK(pvm_pkint(&number, 1, 1));
		OK(pvm_pkbyte(data, BYTES, 1));
		if (pvm_send(to, LONG) < 0)
			_exit(1);
	}
}

/* A long message from the sender; its process. */
static int take(int bufid, int tid, int number)
{
	static char data[BYTES];
	int pid, came, from;

	OK(pvm_bufinfo(bufid, NULL, NULL, &from));
	GIVES(tid, from);
	OK(pvm_upkint(&pid, 1, 1));
	OK(pvm_upkint(&came, 1, 1));
	GIVES(number, came);
	OK(pvm_upkbyte(data, BYTES, 1));
	for (int at = 0; at < BYTES; at += 4099)
		GIVES(number & 127, data[at]);
	GIVES(number & 127, data[BYTES - 1]);
	return pid;
}

int main(int argc, char **argv)
{
	int before;

	if (pvm_parent() > 0)
		stream(pvm_parent());
	(void)argc;
	srand(1);
	before = pvm_setopt(PvmAutoErr, 0);
	CHECK(before >= 0);
	for (int round = 0; round < ROUNDS; round++) {
		int tid, pid = 0, number = 0, ended = 0, whole = 1 + rand() % 4;
		struct timeval moment = { 0, 50000 };

		copies(argv[0], "stream", 1, &tid);
		while (!ended) {
			int tag, bufid = pvm_recv(-1, -1);

			CHECK(bufid > 0);
			OK(pvm_bufinfo(bufid, NULL, &tag, NULL));
			if (tag == TAG_ENDED) {
				ended = 1;
				break;
			}
			pid = take(bufid, tid, number++);
			if (number == whole) {
				struct timespec while_it_sends = { 0, rand() % 3000000 };
				nanosleep(&while_it_sends, NULL);
				GIVES(0, kill(pid, SIGKILL));
			}
		}
		/* Whole messages that had come before the end are there still; the notice comes once. */
		for (int bufid; (bufid = pvm_trecv(-1, -1, &moment)) != 0;) {
			CHECK(bufid > 0);
			take(bufid, tid, number++);
		}
	}
	OK(pvm_exit());
	return 0;
}
