/* A gang that starts itself: `containers_gang` starts four `containers_gang N`, which all report to it. */
#include "check.h"

#include <containers.h>

int main(int argc, char **argv)
{
	enum { MEMBERS = 4 };
	int tasks[MEMBERS], seen = 0, answer;
	ch_sender from;

	if (argc == 2) {
		ch_representative *to = ch_lookup("starter", 10000);
		CHECK(to != NULL);
		answer = ch_my_task();
		GIVES(0, ch_send(to, &answer, sizeof answer, NULL));
		return 0;
	}
	ch_container *c = ch_container_create("starter", 0, 0);
	const char *args[] = { "member", NULL };
	GIVES(0, ch_bind(NULL, c));
	GIVES(MEMBERS, ch_gang_run(argv[0], args, MEMBERS, tasks));
	for (int i = 0; i < MEMBERS; i++) {
		GIVES(sizeof answer, ch_receive(c, &answer, sizeof answer, &from));
		GIVES(from.task, answer);
		for (int at = 0; at < MEMBERS; at++)
			if (tasks[at] == answer)
				seen |= 1 << at;
	}
	GIVES((1 << MEMBERS) - 1, seen);
	GIVES(0, ch_container_destroy(c));
	return 0;
}
