/* Processes: who is who, starting, ending, being told, options and error reports. */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>

enum { HELLO = 1, GO, EXITED, AGAIN };

static void child(int argc, char **argv)
{
	int parent = pvm_parent(), me = pvm_mytid();

	CHECK(parent > 0 && me > 0 && me != parent);
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkint(&me, 1, 1));
	OK(pvm_pkint(&argc, 1, 1));
	OK(pvm_pkstr(argv[argc - 1]));
	OK(pvm_send(parent, HELLO));
	CHECK(pvm_recv(parent, GO) > 0);
	OK(pvm_exit());
}

static void who_is_who(const int *tids)
{
	int me = pvm_mytid(), hosts, archs, count, daemon, found = 0;
	struct pvmhostinfo *host;
	struct pvmtaskinfo *task;

	GIVES(PvmNoParent, pvm_parent());
	OK(pvm_config(&hosts, &archs, &host));
	GIVES(1, hosts);
	GIVES(1, archs);
	CHECK(host->hi_name && *host->hi_name && host->hi_arch && *host->hi_arch && host->hi_speed > 0);
	daemon = host->hi_tid;
	GIVES(daemon, pvm_tidtohost(me));
	GIVES(daemon, pvm_tidtohost(tids[0]));
	/* A number without a task still has a part for the host. */
	GIVES(0, pvm_tidtohost(5));
	GIVES(0x3ffc0000, pvm_tidtohost(-5));
	OK(pvm_config(NULL, NULL, NULL));

	OK(pvm_tasks(0, &count, &task));
	for (int i = 0; i < count; i++) {
		if (task[i].ti_tid == me)
			CHECK(task[i].ti_ptid == 0 && task[i].ti_pid == getpid());
		if (task[i].ti_tid == tids[0] || task[i].ti_tid == tids[1])
			CHECK(task[i].ti_ptid == me && task[i].ti_host == daemon &&
				strcmp(task[i].ti_a_out, "family") == 0);
		found += task[i].ti_tid == me || task[i].ti_tid == tids[0] || task[i].ti_tid == tids[1];
	}
	GIVES(3, found);
	OK(pvm_tasks(tids[1], &count, &task));
	CHECK(count == 1 && task->ti_tid == tids[1]);
	OK(pvm_tasks(daemon, &count, NULL));
	CHECK(count >= 3);
	GIVES(PvmNoHost, pvm_tasks(-1, &count, &task));
	/* One that is not there is none. */
	OK(pvm_tasks((me & ~0x3ffff) | 0x3fff0, &count, &task));
	GIVES(0, count);
}

static void told_once(int tid, int tag)
{
	int whose;

	CHECK(pvm_recv(-1, tag) > 0);
	OK(pvm_upkint(&whose, 1, 1));
	GIVES(tid, whose);
	struct timeval moment = { 0, 50000 };
	GIVES(0, pvm_trecv(-1, tag, &moment));
}

static void spawning(char *self)
{
	int tids[4] = { 0 };
	char *args[] = { "one", "two words", NULL };

	GIVES(PvmBadParam, pvm_spawn(self, args, 0, NULL, 0, tids));
	GIVES(PvmBadParam, pvm_spawn(NULL, args, 0, NULL, 1, tids));
	GIVES(PvmBadParam, pvm_spawn(self, args, 128, NULL, 1, tids));
	/* Where was looked is said, if the program wants that. */
	int before = pvm_setopt(PvmAutoErr, 1);
	GIVES(0, pvm_spawn("/nowhere/no-such-program", NULL, 0, NULL, 2, tids));
	CHECK(tids[0] == PvmNoFile && tids[1] == PvmNoFile);
	GIVES(0, pvm_spawn("no-such-program-anywhere", NULL, 0, NULL, 1, tids));
	GIVES(PvmNoFile, tids[0]);
	GIVES(0, pvm_spawn("./no-such-program-here", NULL, 0, NULL, 2, tids));
	CHECK(tids[0] == PvmNoFile && tids[1] == PvmNoFile);
	pvm_setopt(PvmAutoErr, before);
	GIVES(0, pvm_spawn("/etc/passwd", NULL, 0, NULL, 1, tids));
	CHECK(tids[0] == PvmDenied);
	GIVES(0, pvm_spawn("/tmp", NULL, 0, NULL, 1, tids));
	CHECK(tids[0] == PvmDenied || tids[0] == PvmNoFile);
	CHECK(pvm_spawn(self, args, PvmTaskHost, "no-such-host.invalid", 1, tids) <= 0);

	/* One on this very host, by name. */
	int hosts;
	struct pvmhostinfo *host;
	OK(pvm_config(&hosts, NULL, &host));
	GIVES(1, pvm_spawn(self, args, PvmTaskHost, host->hi_name, 1, tids));
	OK(pvm_notify(PvmTaskExit, EXITED, 1, tids));
	OK(pvm_kill(tids[0]));
	told_once(tids[0], EXITED);
	GIVES(1, pvm_spawn(self, args, PvmTaskArch, host->hi_arch, 1, tids));
	OK(pvm_notify(PvmTaskExit, EXITED, 1, tids));
	OK(pvm_sendsig(tids[0], SIGKILL));
	told_once(tids[0], EXITED);
}

static void ending(char *self)
{
	int tids[2], dead, number;
	char *args[] = { "one", "two words", NULL }, text[32];

	GIVES(2, pvm_spawn(self, args, PvmTaskDefault, NULL, 2, tids));
	for (int i = 0; i < 2; i++) {
		CHECK(pvm_recv(tids[i], HELLO) > 0);
		OK(pvm_upkint(&number, 1, 1));
		GIVES(tids[i], number);
		OK(pvm_upkint(&number, 1, 1));
		GIVES(3, number);
		OK(pvm_upkstr(text));
		CHECK(strcmp(text, "two words") == 0);
	}
	who_is_who(tids);
	OK(pvm_notify(PvmTaskExit, EXITED, 2, tids));
	/* Signal 0 only asks; the first is killed, the second leaves by itself. */
	OK(pvm_sendsig(tids[0], 0));
	OK(pvm_kill(tids[0]));
	told_once(tids[0], EXITED);
	pvm_initsend(PvmDataDefault);
	OK(pvm_send(tids[1], GO));
	told_once(tids[1], EXITED);
	/* For one that is gone already the news come at once, and once. */
	dead = tids[0];
	OK(pvm_notify(PvmTaskExit, AGAIN, 1, &dead));
	told_once(dead, AGAIN);
	/* That it is gone is what was wanted. */
	OK(pvm_kill(dead));
	OK(pvm_sendsig(dead, SIGTERM));
	GIVES(0, pvm_send(dead, GO)); /* lost without a word, as PVM loses it */
	GIVES(PvmBadParam, pvm_kill(-1));
	GIVES(PvmBadParam, pvm_sendsig(tids[1], 4711));
	GIVES(PvmBadParam, pvm_notify(77, EXITED, 1, &dead));
	GIVES(PvmBadParam, pvm_notify(PvmTaskExit, -3, 1, &dead));
	GIVES(PvmBadParam, pvm_notify(PvmTaskExit, EXITED, 0, &dead));

	/* Cancelled: told now, and not again when it ends. */
	GIVES(1, pvm_spawn(self, args, PvmTaskDefault, NULL, 1, tids));
	CHECK(pvm_recv(tids[0], HELLO) > 0);
	OK(pvm_notify(PvmTaskExit, EXITED, 1, tids));
	OK(pvm_notify(PvmTaskExit, AGAIN, 1, tids));
	OK(pvm_notify(PvmTaskExit | PvmNotifyCancel, EXITED, 1, tids));
	told_once(tids[0], EXITED);
	pvm_initsend(PvmDataDefault);
	OK(pvm_send(tids[0], GO));
	told_once(tids[0], AGAIN);
	GIVES(0, pvm_nrecv(-1, EXITED));
}

/* What PvmAutoErr does with an error, in a process of its own. */
static int automatic(int level, char *said, size_t size)
{
	int ends[2], status;
	ssize_t got;

	CHECK(pipe(ends) == 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], 2);
		pvm_setopt(PvmAutoErr, level);
		pvm_setrbuf(999);
		pvm_perror("my words");
		_exit(17);
	}
	close(ends[1]);
	memset(said, 0, size);
	for (size_t at = 0; (got = read(ends[0], said + at, size - 1 - at)) > 0;)
		at += (size_t)got;
	close(ends[0]);
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static void reports(void)
{
	char said[500];
	int status = automatic(0, said, sizeof said);

	CHECK(WEXITSTATUS(status) == 17 && !strstr(said, "pvm_setrbuf") && strstr(said, "my words: No such buffer"));
	status = automatic(1, said, sizeof said);
	CHECK(WEXITSTATUS(status) == 17 && strstr(said, "pvm_setrbuf(): No such buffer") && strstr(said, "my words"));
	status = automatic(2, said, sizeof said);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 17 && strstr(said, "pvm_setrbuf(): No such buffer"));
	status = automatic(3, said, sizeof said);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);

	GIVES(0, pvm_getopt(PvmAutoErr));
	/* As PVM, a level that means nothing is taken. */
	GIVES(0, pvm_setopt(PvmAutoErr, 7));
	GIVES(7, pvm_setopt(PvmAutoErr, 0));
	GIVES(PvmBadParam, pvm_setopt(99, 1));
	GIVES(PvmBadParam, pvm_getopt(0));
	GIVES(PvmBadParam, pvm_errno);
	GIVES(PvmAllowDirect, pvm_setopt(PvmRoute, PvmRouteDirect));
	GIVES(PvmRouteDirect, pvm_getopt(PvmRoute));
	GIVES(PvmBadParam, pvm_setopt(PvmRoute, 9));
	GIVES(PvmRouteDirect, pvm_setopt(PvmRoute, PvmAllowDirect));
	CHECK(strncmp(pvm_version(), "3.4", 3) == 0);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		child(argc, argv);
		return 0;
	}
	pvm_setopt(PvmAutoErr, 0);
	spawning(argv[0]);
	ending(argv[0]);
	reports();
	return 0;
}
