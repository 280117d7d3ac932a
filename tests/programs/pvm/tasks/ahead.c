/* A send waits neither for a receive nor for the receiver to come near PVM, and what was
 * sent goes on its way while the sender computes. Whoever waits where it must not waits for ever. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

enum { WORD = 1, LARGE, READY, SMALL = 5000, BYTES = 3000000 };

static void receiver(const char *fifo)
{
	sigset_t go;
	int number, caught;
	char *data = malloc(BYTES);

	sigemptyset(&go);
	sigaddset(&go, SIGUSR1);
	sigprocmask(SIG_BLOCK, &go, NULL);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(pvm_parent(), READY));
	/* Outside PVM until everything was sent. */
	GIVES(0, sigwait(&go, &caught));
	for (int i = 0; i < SMALL; i++) {
		CHECK(pvm_recv(pvm_parent(), WORD) > 0);
		OK(pvm_upkint(&number, 1, 1));
		GIVES(i, number);
	}
	for (int i = 0; i < 3; i++) {
		CHECK(pvm_recv(pvm_parent(), LARGE) > 0);
		OK(pvm_upkbyte(data, BYTES, 1));
		CHECK(data[0] == i && data[BYTES - 1] == i);
	}
	/* The sender waits for this outside PVM. */
	int pipe = open(fifo, O_WRONLY);
	CHECK(pipe >= 0 && write(pipe, "!", 1) == 1);
	free(data);
}

int main(int argc, char **argv)
{
	char fifo[64], *args[] = { fifo, NULL }, said;
	char *data = malloc(BYTES);
	int tid;

	if (argc > 1) {
		receiver(argv[1]);
		return 0;
	}
	snprintf(fifo, sizeof fifo, "/tmp/parvum-ahead-%d", (int)getpid());
	CHECK(mkfifo(fifo, 0600) == 0);
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, 1, &tid));
	CHECK(pvm_recv(tid, READY) > 0);
	for (int i = 0; i < SMALL; i++) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&i, 1, 1));
		OK(pvm_send(tid, WORD));
	}
	for (int i = 0; i < 3; i++) {
		memset(data, i, BYTES);
		CHECK(pvm_initsend(i == 1 ? PvmDataInPlace : PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, BYTES, 1));
		OK(pvm_send(tid, LARGE));
	}
	OK(pvm_sendsig(tid, SIGUSR1));
	int pipe = open(fifo, O_RDONLY);
	CHECK(pipe >= 0 && read(pipe, &said, 1) == 1);
	unlink(fifo);
	free(data);
	OK(pvm_exit());
	return 0;
}
