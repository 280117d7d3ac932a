/* A task that works with one on another host, which is lost and comes back: what is sent to the new one arrives, and no
   number of an old one is used again. Tells the test when the host may go, and waits for a line when it has come back. */
#include "check.h"

enum { WORD = 1, LIVES = 3, MESSAGES = 20 };

static void echo(void)
{
	for (;;) {
		int word, bufid = pvm_recv(pvm_parent(), WORD);

		if (bufid < 0)
			_exit(0);
		OK(pvm_upkint(&word, 1, 1));
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&word, 1, 1));
		pvm_send(pvm_parent(), WORD);
	}
}

int main(int argc, char **argv)
{
	int tids[LIVES];
	char line[16];

	if (pvm_parent() > 0)
		echo();
	CHECK(argc == 2 && pvm_setopt(PvmAutoErr, 0) >= 0);
	for (int life = 0; life < LIVES; life++) {
		char *role[] = { argv[1], NULL };

		GIVES(1, pvm_spawn(argv[0], role, PvmTaskHost, argv[1], 1, &tids[life]));
		OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, &tids[life]));
		for (int before = 0; before < life; before++)
			CHECK(tids[before] != tids[life]);
		for (int number = 0; number < MESSAGES; number++) {
			int word = number;

			CHECK(pvm_initsend(PvmDataDefault) > 0);
			OK(pvm_pkint(&word, 1, 1));
			OK(pvm_send(tids[life], WORD));
			hear(tids[life], WORD);
			OK(pvm_upkint(&word, 1, 1));
			GIVES(number, word);
		}
		if (life == LIVES - 1)
			break;
		SAY("ready %d", life);
		CHECK(pvm_recv(-1, TAG_ENDED) > 0);
		SAY("lost %d", life);
		CHECK(fgets(line, sizeof line, stdin));
	}
	SAY("done %d", LIVES);
	OK(pvm_exit());
	return 0;
}
