/* Signal handlers of programs that wait in PVM: they send, receive, jump out of the wait, or leave the machine. */
#include "check.h"

#include <setjmp.h>
#include <signal.h>

enum { READY = 1, WORD, ECHO, LAST, NEVER };

static char *self;
static int partner;
static volatile sig_atomic_t handled;
static sigjmp_buf before;

/* Asks the partner and waits for its answer, inside the wait that the signal interrupts. */
static void ask(int sig)
{
	int value = 41;

	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(partner, WORD));
	CHECK(pvm_recv(partner, ECHO) > 0);
	OK(pvm_upkint(&value, 1, 1));
	GIVES(42, value);
	handled = sig;
}

static void jump(int sig)
{
	siglongjmp(before, sig);
}

static void leave(int sig)
{
	(void)sig;
	OK(pvm_exit());
	_exit(0);
}

/* Whether a process sleeps: in a wait, where else. */
static int sleeps(int pid)
{
	char name[64], line[512];
	FILE *file;

	snprintf(name, sizeof name, "/proc/%d/stat", pid);
	file = fopen(name, "r");
	CHECK(file && fgets(line, sizeof line, file));
	fclose(file);
	return strrchr(line, ')')[2] == 'S';
}

/* Interrupts its parent as soon as that waits; answers what it is asked. */
static void interrupt(int parent)
{
	int pid, tag, value;

	CHECK(pvm_recv(parent, READY) > 0);
	OK(pvm_upkint(&pid, 1, 1));
	while (!sleeps(pid))
		usleep(1000);
	OK(kill(pid, SIGUSR1));
	do {
		OK(pvm_bufinfo(pvm_recv(parent, -1), NULL, &tag, NULL));
		OK(pvm_upkint(&value, 1, 1));
		value++;
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&value, 1, 1));
		OK(pvm_send(parent, tag == WORD ? ECHO : NEVER));
		/* What the parent waited for when it was interrupted. */
		if (tag == WORD)
			OK(pvm_send(parent, LAST));
	} while (tag != LAST);
}

static void say(int tag, int value)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(partner, tag));
}

/* The same for each way to receive. */
static void wait_and_ask(int raw)
{
	int value;

	handled = 0;
	copies(self, "interrupt", 1, &partner);
	say(READY, getpid());
	if (raw) {
		GIVES(0, pvm_precv(partner, LAST, &value, 4, PVM_BYTE, NULL, NULL, NULL));
	} else {
		CHECK(pvm_recv(partner, LAST) > 0);
		OK(pvm_upkint(&value, 1, 1));
		GIVES(42, value);
	}
	GIVES(SIGUSR1, handled);
	say(LAST, 0);
	CHECK(pvm_recv(partner, NEVER) > 0);
	ends(1);
}

/* A receive that the program has jumped out of takes no message any more. */
static void jump_out(void)
{
	int value;

	copies(self, "interrupt", 1, &partner);
	say(READY, getpid());
	if (!sigsetjmp(before, 1)) {
		CHECK(pvm_recv(-1, NEVER) == 0);
		CHECK(0);
	}
	say(LAST, 7);
	CHECK(pvm_recv(partner, NEVER) > 0);
	OK(pvm_upkint(&value, 1, 1));
	GIVES(8, value);
	ends(1);
}

int main(int argc, char **argv)
{
	char *role = argc > 1 ? argv[1] : "";
	int tid;

	if (strcmp(role, "interrupt") == 0) {
		interrupt(pvm_parent());
		OK(pvm_exit());
		return 0;
	}
	if (strcmp(role, "leaves") == 0) {
		signal(SIGUSR1, leave);
		OK(pvm_catchout(stdout));
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		tid = getpid();
		OK(pvm_pkint(&tid, 1, 1));
		OK(pvm_send(pvm_parent(), READY));
		CHECK(pvm_recv(-1, NEVER) == 0);
		return 1;
	}
	self = argv[0];
	signal(SIGUSR1, ask);
	wait_and_ask(0);
	wait_and_ask(1);
	signal(SIGUSR1, jump);
	jump_out();
	jump_out();
	copies(self, "leaves", 1, &tid);
	CHECK(pvm_recv(tid, READY) > 0);
	OK(pvm_upkint(&partner, 1, 1));
	while (!sleeps(partner))
		usleep(1000);
	OK(kill(partner, SIGUSR1));
	ends(1);
	OK(pvm_exit());
	return 0;
}
