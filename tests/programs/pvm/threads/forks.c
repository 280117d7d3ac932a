/* fork() in a PVM program: the child disturbs nothing, and may become a task of its own. */
#include "check.h"

#include <sys/wait.h>

enum { WORD = 1 };

static void say(int tid, int value)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(tid, WORD));
}

static int heard(int from)
{
	int value;

	CHECK(pvm_recv(from, WORD) > 0);
	OK(pvm_upkint(&value, 1, 1));
	return value;
}

static void wait_for(pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
	int partner, me = pvm_mytid();

	if (argc > 1) {
		int value;
		do {
			int tid, bufid = pvm_recv(-1, WORD);
			CHECK(bufid > 0);
			OK(pvm_bufinfo(bufid, NULL, NULL, &tid));
			OK(pvm_upkint(&value, 1, 1));
			say(tid, value + 1);
		} while (value);
		OK(pvm_exit());
		return 0;
	}
	copies(argv[0], "partner", 1, &partner);
	say(partner, 10);
	GIVES(11, heard(partner));
	say(partner, 20);

	/* One that ends by exit(), with what its parent set to happen then. */
	pid_t pid = fork();
	if (pid == 0)
		exit(0);
	wait_for(pid);
	/* One that starts another program. */
	pid = fork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait_for(pid);
	/* One that calls PVM: it is another task. */
	pid = fork();
	if (pid == 0) {
		int other = pvm_mytid();
		CHECK(other > 0 && other != me);
		GIVES(PvmNoParent, (pvm_setopt(PvmAutoErr, 0), pvm_parent()));
		say(partner, 30);
		GIVES(31, heard(partner));
		say(me, 99);
		OK(pvm_exit());
		exit(0);
	}
	wait_for(pid);
	/* One that stays while its parent goes on and ends. */
	pid = fork();
	if (pid == 0) {
		usleep(200000);
		_exit(0);
	}
	GIVES(me, pvm_mytid());
	GIVES(21, heard(partner));
	GIVES(99, heard(-1));
	say(partner, 0);
	ends(1);
	wait_for(pid);
	return 0;
}
