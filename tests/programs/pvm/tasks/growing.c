/* A machine that its program makes larger by the hosts that are named, uses, and makes smaller again. Options of a
 * hostfile may follow a name; a speed of 77 is then looked for. */
#include "check.h"

/* The hosts are named without their options. */
static char *names[8];

enum { ADDED = 1, DELETED, WORD };

int main(int argc, char **argv)
{
	int infos[8], dtids[8], tid, count, more = argc - 1;
	struct pvmhostinfo *table;

	if (argc > 1 && strcmp(argv[1], "part") == 0) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_send(pvm_parent(), WORD));
		pvm_recv(pvm_parent(), WORD);
		return 0;
	}
	if (argc > 2 && strcmp(argv[1], "--refused") == 0) {
		GIVES(0, pvm_addhosts(argv + 2, 1, infos));
		GIVES(PvmBadParam, infos[0]);
		OK(pvm_exit());
		return 0;
	}
	pvm_setopt(PvmAutoErr, 0);
	CHECK(pvm_mytid() > 0 && more <= 8);
	for (int i = 0; i < more; i++)
		names[i] = strndup(argv[i + 1], strcspn(argv[i + 1], " "));
	OK(pvm_notify(PvmHostAdd, ADDED, -1, NULL));
	GIVES(more, pvm_addhosts(argv + 1, more, infos));
	OK(pvm_config(&count, NULL, &table));
	GIVES(more + 1, count);
	for (int i = 0; i < more; i++) {
		CHECK(infos[i] > 0);
		for (int host = 0; host < count; host++)
			if (strcmp(table[host].hi_name, names[i]) == 0)
				CHECK((table[host].hi_speed == 77) == (strstr(argv[i + 1], "sp=77") != NULL));
		dtids[i] = infos[i];
	}
	/* Each is told of, in one notice or several. */
	for (int told = 0, few; told < more; told += few) {
		CHECK(pvm_recv(-1, ADDED) > 0);
		OK(pvm_upkint(&few, 1, 1));
		CHECK(few > 0);
	}
	/* Not a second time, and none that does not exist. */
	GIVES(0, pvm_addhosts(argv + 1, 1, infos));
	GIVES(PvmDupHost, infos[0]);
	GIVES(0, pvm_addhosts((char *[]){ "nowhere" }, 1, infos));
	CHECK(infos[0] < 0);
	OK(pvm_notify(PvmHostDelete, DELETED, more, dtids));
	for (int i = 0; i < more; i++) {
		GIVES(1, pvm_spawn(argv[0], (char *[]){ "part", NULL }, PvmTaskHost, names[i], 1, &tid));
		CHECK(pvm_recv(tid, WORD) > 0);
		OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, &tid));
	}
	GIVES(more, pvm_delhosts(names, more, infos));
	for (int i = 0; i < more; i++) {
		int gone;
		GIVES(PvmOk, infos[i]);
		CHECK(pvm_recv(-1, DELETED) > 0);
		OK(pvm_upkint(&gone, 1, 1));
		CHECK(gone == dtids[0] || gone == dtids[more - 1]);
	}
	ends(more);
	OK(pvm_config(&count, NULL, &table));
	GIVES(1, count);
	GIVES(0, pvm_delhosts(names, 1, infos));
	GIVES(PvmNoHost, infos[0]);
	OK(pvm_exit());
	return 0;
}
