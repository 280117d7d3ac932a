/* The resource manager and the tasker, played by copies of this program as PVM's protocol has it. */
#include "check.h"
#include <sys/wait.h>

#define SM(number) ((int)0x80040001 + (number))
#define SM_SPAWN SM(0)
#define SM_EXEC SM(1)
#define SM_EXECACK SM(2)
#define SM_TASK SM(3)
#define SM_CONFIG SM(4)
#define SM_TASKX SM(10)
#define SM_STTASK SM(16)
#define DAEMON ((int)0x80040000)

enum { READY = 1, HELLO, STOP };

static int take(void)
{
	int value;

	OK(pvm_upkint(&value, 1, 1));
	return value;
}

static void put(int value)
{
	OK(pvm_pkint(&value, 1, 1));
}

static void answer(struct pvmminfo *asked)
{
	struct pvmminfo mine;

	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_getminfo(pvm_getsbuf(), &mine));
	mine.wid = asked->wid;
	OK(pvm_setminfo(pvm_getsbuf(), &mine));
}

/* Hands a request to spawn on to the daemon, and its answer back. */
static void spawn_for(struct pvmminfo *asked)
{
	char file[512], place[512], text[4096];
	int flags, count, argc, nenv, tids[16], output[6];

	OK(pvm_upkstr(file));
	flags = take();
	OK(pvm_upkstr(place));
	count = take();
	argc = take();
	answer(asked);
	put(asked->src);
	OK(pvm_pkstr(file));
	put(flags);
	put(count);
	put(argc);
	for (; argc > 0; argc--) {
		OK(pvm_upkstr(text));
		OK(pvm_pkstr(text));
	}
	OK(pvm_upkint(output, 6, 1));
	OK(pvm_pkint(output, 6, 1));
	put(nenv = take());
	for (; nenv > 0; nenv--) {
		OK(pvm_upkstr(text));
		OK(pvm_pkstr(text));
	}
	OK(pvm_send(DAEMON, SM_EXEC));
	struct pvmminfo said;
	do { /* others may be told at the same time */
		CHECK(pvm_recv(-1, SM_EXECACK) > 0);
		OK(pvm_getminfo(pvm_getrbuf(), &said));
	} while (said.wid != asked->wid);
	GIVES(count, take());
	OK(pvm_upkint(tids, count, 1));
	answer(asked);
	put(count);
	OK(pvm_pkint(tids, count, 1));
	OK(pvm_send(asked->src, SM_SPAWN));
}

static void manager(void)
{
	struct pvmhostinfo *host;
	struct pvmminfo asked;

	pvm_setopt(PvmResvTids, 1);
	OK(pvm_reg_rm(&host));
	CHECK(host->hi_tid == pvm_tidtohost(pvm_mytid()));
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(pvm_parent(), READY));
	for (;;) {
		CHECK(pvm_recv(-1, -1) > 0);
		OK(pvm_getminfo(pvm_getrbuf(), &asked));
		if (asked.tag == SM_SPAWN)
			spawn_for(&asked);
		else if (asked.tag == SM_CONFIG) {
			answer(&asked);
			put(1), put(1), put(host->hi_tid);
			OK(pvm_pkstr("managed"));
			OK(pvm_pkstr("LINUX64"));
			put(7), put(0x408c41);
			OK(pvm_send(asked.src, SM_CONFIG));
		} else if (asked.tag == SM_TASK) {
			answer(&asked);
			put(0), put(asked.src), put(0), put(host->hi_tid), put(4);
			OK(pvm_pkstr("somebody"));
			put(123);
			OK(pvm_send(asked.src, SM_TASK));
		} else if (asked.tag == STOP)
			return;
	}
}

/* Starts what the daemon says, and tells how it ended. */
static void tasker(void)
{
	char path[512], *args[16], *env[64], text[4096];
	int tid, argc, nenv, status, number;

	pvm_setopt(PvmResvTids, 1);
	OK(pvm_reg_tasker());
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(pvm_parent(), READY));
	CHECK(pvm_recv(-1, SM_STTASK) > 0);
	tid = take();
	take();
	OK(pvm_upkstr(path));
	argc = take();
	CHECK(argc > 0 && argc < 16);
	for (int at = 0; at < argc; at++) {
		OK(pvm_upkstr(text));
		args[at] = strdup(text);
	}
	args[argc] = NULL;
	/* As PVM sends it: ready for execv. */
	CHECK(strcmp(args[0], path) == 0);
	nenv = take();
	CHECK(nenv < 63);
	for (int at = 0; at < nenv; at++) {
		OK(pvm_upkstr(text));
		env[at] = strdup(text);
	}
	env[nenv] = NULL;
	pid_t child = fork();
	if (child == 0) {
		execve(path, args, env);
		_exit(127);
	}
	CHECK(waitpid(child, &status, 0) == child);
	GIVES(0, status);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	put(tid);
	put(status);
	for (number = 0; number < 4; number++)
		put(0);
	OK(pvm_send(DAEMON, SM_TASKX));
}

static void gone(int tid)
{
	while (pvm_pstat(tid) != PvmNoTask)
		usleep(1000);
}

static void start_through(char *self, char *role, int *tid)
{
	char *args[] = { "hello", NULL }, *roles[] = { role, NULL };
	int player, child;

	/* No notice is asked for: that would be asked of the manager. */
	GIVES(1, pvm_spawn(self, roles, PvmTaskDefault, NULL, 1, &player));
	CHECK(pvm_recv(player, READY) > 0);
	/* It is told at once, but by another way. */
	usleep(20000);
	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, &child));
	CHECK(pvm_recv(child, HELLO) > 0);
	GIVES(pvm_mytid(), take());
	*tid = player;
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *hosts;
	struct pvmtaskinfo *tasks;
	int count, archs, player, me = pvm_mytid();

	if (argc > 1 && strcmp(argv[1], "manager") == 0)
		manager();
	else if (argc > 1 && strcmp(argv[1], "tasker") == 0)
		tasker();
	else if (argc > 1) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		put(pvm_parent());
		OK(pvm_send(pvm_parent(), HELLO));
	} else {
		pvm_setopt(PvmAutoErr, 0);
		start_through(argv[0], "manager", &player);
		OK(pvm_config(&count, &archs, &hosts));
		CHECK(count == 1 && strcmp(hosts->hi_name, "managed") == 0 && hosts->hi_speed == 7);
		OK(pvm_tasks(0, &count, &tasks));
		CHECK(count == 1 && tasks->ti_tid == me && strcmp(tasks->ti_a_out, "somebody") == 0);
		GIVES(PvmAlready, pvm_reg_rm(NULL));
		OK(pvm_sendsig(player, 9));
		gone(player);
		/* A manager that died stops nobody. */
		OK(pvm_config(&count, &archs, &hosts));
		CHECK(count == 1 && strcmp(hosts->hi_name, "managed") != 0);
		start_through(argv[0], "tasker", &player);
		gone(player);
	}
	OK(pvm_exit());
	return 0;
}
