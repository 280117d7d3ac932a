/* Programs whose messages a test knows, to be recorded.
 *
 *     traced ring TASKS ROUNDS    prints each message that is sent: from, to, tag, bytes; returns 3
 *     traced killed               a task receives and sends a message, waits, and is killed
 *     traced forked               a child that a task forks is a task too, and sends a message
 */
#include "check.h"
#include <signal.h>
#include <sys/wait.h>

enum { ORDERS = 1, FIRST = 100, WORD = 5, ANSWER = 6, NEVER = 7, SIZE = 8 };

static double data[64];

/* Sends `count` numbers, and says so. */
static void tell(int to, int tag, int count)
{
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkdouble(data, count, 1));
	SAY("sent %d %d %d %d", pvm_mytid(), to, tag, count * SIZE);
	OK(pvm_send(to, tag));
}

/* One member: each round has a tag and a length of its own. */
static void go_round(int next, int before, int rounds, int begins)
{
	for (int round = 0; round < rounds; round++) {
		int count = 1 + round % 64;

		if (begins)
			tell(next, FIRST + round, count);
		CHECK(pvm_recv(before, FIRST + round) > 0);
		OK(pvm_upkdouble(data, count, 1));
		if (!begins)
			tell(next, FIRST + round, count);
	}
}

static void ring(char *self, int many, int rounds)
{
	int tids[64];
	char *args[] = { "member", NULL };

	tids[0] = pvm_mytid();
	GIVES(many - 1, pvm_spawn(self, args, PvmTaskDefault, NULL, many - 1, tids + 1));
	for (int i = 1; i < many; i++) {
		int orders[] = { tids[(i + 1) % many], tids[i - 1], rounds };

		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkint(orders, 3, 1));
		SAY("sent %d %d %d %d", tids[0], tids[i], ORDERS, (int)sizeof orders);
		OK(pvm_send(tids[i], ORDERS));
	}
	go_round(tids[1], tids[many - 1], rounds, 1);
}

static void member(void)
{
	int orders[3];

	CHECK(pvm_recv(pvm_parent(), ORDERS) > 0);
	OK(pvm_upkint(orders, 3, 1));
	go_round(orders[0], orders[1], orders[2], 0);
}

static void killed(char *self)
{
	int victim;

	copies(self, "victim", 1, &victim);
	tell(victim, WORD, 1);
	hear(victim, ANSWER);
	usleep(50000);
	OK(pvm_sendsig(victim, SIGKILL));
	CHECK(pvm_recv(-1, TAG_ENDED) > 0);
}

static void victim(void)
{
	CHECK(pvm_recv(pvm_parent(), WORD) > 0);
	tell(pvm_parent(), ANSWER, 2);
	pvm_recv(pvm_parent(), NEVER);
}

static void forked(void)
{
	int me = pvm_mytid();
	pid_t child = fork();

	if (child == 0) {
		CHECK(pvm_mytid() != me);
		tell(me, WORD, 1);
		OK(pvm_exit());
		_exit(0);
	}
	CHECK(pvm_recv(-1, WORD) > 0);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int code = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(pvm_mytid() > 0);
	if (!strcmp(what, "ring") && argc > 3) {
		ring(argv[0], atoi(argv[2]), atoi(argv[3]));
		code = 3;
	} else if (!strcmp(what, "member"))
		member();
	else if (!strcmp(what, "killed"))
		killed(argv[0]);
	else if (!strcmp(what, "victim"))
		victim();
	else if (!strcmp(what, "forked"))
		forked();
	else
		CHECK(!"known");
	pvm_exit();
	return code;
}
