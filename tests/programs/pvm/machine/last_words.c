/* A task sends to a stopped receiver by way of the daemons until nothing more goes, and is killed. A third task is told at once.
 * The receiver goes on afterwards: it has what had left the sender, in order, and then the notice. Argument of the first: a host for the receiver, or none. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

enum { PARTNER = 1, DATA, COUNTED, READY };
enum { LENGTH = 60000, STILL = 100 };

static void send_int(int tid, int tag, int value)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(tid, tag));
}

static int hear_int(int tid, int tag)
{
	int value;

	hear(tid, tag);
	OK(pvm_upkint(&value, 1, 1));
	return value;
}

/* Messages that the sender has handed over, in a file that both see. */
static volatile int *shared_count(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT, 0600);
	void *memory;

	CHECK(file >= 0 && ftruncate(file, 4096) == 0);
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(memory != MAP_FAILED);
	close(file);
	return memory;
}

static void send_without_end(const char *path)
{
	volatile int *sent = shared_count(path);
	char *data = calloc(1, LENGTH);
	int receiver = hear_int(pvm_parent(), PARTNER), number;

	for (number = 0;; number++) {
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkint(&number, 1, 1));
		OK(pvm_pkbyte(data, LENGTH, 1));
		OK(pvm_send(receiver, DATA));
		*sent = number + 1;
	}
}

/* Counts what has come before the sender's end. */
static void receive_all(void)
{
	int sender = hear_int(pvm_parent(), PARTNER), number, count = 0;

	OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, &sender));
	send_int(pvm_parent(), READY, 1);
	for (;; count++) {
		int bufid = pvm_recv(-1, -1), bytes, tag, tid;

		CHECK(bufid > 0);
		OK(pvm_bufinfo(bufid, &bytes, &tag, &tid));
		if (tag == TAG_ENDED)
			break;
		OK(pvm_upkint(&number, 1, 1));
		GIVES(count, number);
	}
	/* Nothing comes after the notice. */
	GIVES(0, pvm_nrecv(sender, -1));
	send_int(pvm_parent(), COUNTED, count);
}

int main(int argc, char **argv)
{
	int tids[2], still = 0, seen = 0, count;
	volatile int *sent;
	char path[200], *args[] = { "send", path, NULL };

	if (argc > 2 && strcmp(argv[1], "send") == 0)
		send_without_end(argv[2]);
	if (argc > 1 && strcmp(argv[1], "receive") == 0) {
		receive_all();
		pvm_exit();
		return 0;
	}
	snprintf(path, sizeof path, "/tmp/last-words-%d", (int)getpid());
	sent = shared_count(path);
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskHost, ".", 1, &tids[0]));
	args[0] = "receive";
	args[1] = NULL;
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskHost, argc > 1 ? argv[1] : ".", 1, &tids[1]));
	send_int(tids[1], PARTNER, tids[0]);
	hear_int(tids[1], READY);
	OK(pvm_sendsig(tids[1], SIGSTOP));
	send_int(tids[0], PARTNER, tids[1]);
	while (still < STILL) {
		usleep(10000);
		still = *sent == seen && seen > 0 ? still + 1 : 0;
		seen = *sent;
	}
	OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, &tids[0]));
	OK(pvm_sendsig(tids[0], SIGKILL));
	/* The receiver is stopped until this has come. */
	CHECK(pvm_recv(-1, TAG_ENDED) > 0);
	GIVES(PvmNoTask, pvm_pstat(tids[0]));
	OK(pvm_sendsig(tids[1], SIGCONT));
	count = hear_int(tids[1], COUNTED);
	unlink(path);
	/* What was still in the sender's memory died with it. */
	CHECK(count > 0 && count <= seen + 1);
	pvm_exit();
	return 0;
}
