/* Children that are forked while another thread of the parent is inside the library: each becomes a task of its own. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { WORD = 1, CHILDREN = 30 };

static atomic_int over;

static void *be_busy(void *unused)
{
	(void)unused;
	while (!over)
		CHECK(pvm_probe(-1, WORD + 1) == 0);
	return NULL;
}

int main(void)
{
	pthread_t busy;
	int me = pvm_mytid();

	CHECK(me > 0);
	GIVES(0, pthread_create(&busy, NULL, be_busy, NULL));
	for (int child = 0; child < CHILDREN; child++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			int mine = pvm_mytid();

			alarm(60);	/* ends a child that hangs, which its parent then sees */
			CHECK(mine > 0 && mine != me);
			CHECK(pvm_initsend(PvmDataDefault) > 0);
			OK(pvm_pkint(&mine, 1, 1));
			OK(pvm_send(mine, WORD));
			CHECK(pvm_recv(mine, WORD) > 0);
			OK(pvm_exit());
			_exit(0);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	over = 1;
	GIVES(0, pthread_join(busy, NULL));
	OK(pvm_exit());
	return 0;
}
