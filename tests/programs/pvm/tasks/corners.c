/* Corners that real programs turn: sending on what came, signals and exits in the middle of a call, floods to oneself. */
#include "check.h"

#include <signal.h>

enum { WORD = 1, BACK, READY };

static void leave(void)
{
	pvm_exit();
}

static void on_term(int number)
{
	(void)number;
	pvm_exit();
	_exit(3);
}

/* Sends two messages back as they came, without unpacking them. */
static void relay(void)
{
	for (int i = 0; i < 2; i++) {
		int came = pvm_recv(pvm_parent(), WORD);

		CHECK(came > 0);
		int before = pvm_setsbuf(came);
		OK(pvm_send(pvm_parent(), BACK));
		GIVES(came, pvm_setsbuf(before));
	}
}

/* Waits for ever, and leaves the machine from a signal handler. */
static void interrupted(void)
{
	signal(SIGTERM, on_term);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(pvm_parent(), READY));
	pvm_recv(-1, 77);
}

/* Fails in a call that ends the program, which calls PVM once more on its way out. */
static void ended_by_its_error(void)
{
	atexit(leave);
	pvm_mytid();
	pvm_setopt(PvmAutoErr, 2);
	pvm_send(1, 1);
	_exit(0);
}

static void sends_on(char *self)
{
	static int numbers[100000], back[100000];
	int tid, encodings[] = { PvmDataDefault, PvmDataRaw }, counts[] = { 3, 100000 };

	for (int i = 0; i < 100000; i++)
		numbers[i] = i * 7;
	copies(self, "relay", 1, &tid);
	for (int i = 0; i < 2; i++) {
		CHECK(pvm_initsend(encodings[i]) > 0);
		OK(pvm_pkint(numbers, counts[i], 1));
		OK(pvm_send(tid, WORD));
		hear(tid, BACK);
		OK(pvm_upkint(back, counts[i], 1));
		CHECK(memcmp(numbers, back, counts[i] * sizeof *back) == 0);
	}
	ends(1);
}

/* More than the credit, to oneself: nobody else could take it. */
static void floods_itself(void)
{
	enum { LENGTH = 5000000, TIMES = 20 };
	char *data = malloc(LENGTH);
	int me = pvm_mytid();

	for (int i = 0; i < TIMES; i++) {
		memset(data, i, LENGTH);
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, LENGTH, 1));
		OK(pvm_send(me, WORD));
	}
	for (int i = 0; i < TIMES; i++) {
		CHECK(pvm_recv(me, WORD) > 0);
		OK(pvm_upkbyte(data, LENGTH, 1));
		CHECK(data[0] == i && data[LENGTH - 1] == i);
	}
	free(data);
}

int main(int argc, char **argv)
{
	int tid;

	if (argc > 1) {
		if (strcmp(argv[1], "relay") == 0)
			relay();
		else if (strcmp(argv[1], "interrupted") == 0)
			interrupted();
		else
			ended_by_its_error();
		return 0;
	}
	CHECK(pvm_mytid() > 0);
	sends_on(argv[0]);
	floods_itself();
	copies(argv[0], "interrupted", 1, &tid);
	hear(tid, READY);
	OK(pvm_kill(tid));
	ends(1);
	copies(argv[0], "error", 1, &tid);
	ends(1);
	OK(pvm_exit());
	return 0;
}
