/* Groups and calls of several: `containers_many member N`, `containers_many caller`. */
#include "check.h"

#include <containers.h>

enum { MEMBERS = 3, EACH = 2 };

static void member(int number)
{
	ch_container *c[EACH], *server = ch_container_create(NULL, 0, 0), *extra = ch_container_create(NULL, 0, 0);
	ch_group *all = ch_group_create("everybody"), *servers = ch_group_create("servers");
	ch_sender from;
	char got[16];

	for (int i = 0; i < EACH; i++) {
		c[i] = ch_container_create(NULL, 0, 0);
		GIVES(0, ch_group_add(all, c[i]));
		GIVES(CH_ENAMETAKEN, ch_group_add(all, c[i]));
	}
	GIVES(0, ch_group_add(servers, extra));
	GIVES(0, ch_group_remove(servers, extra));
	GIVES(CH_EUNBOUND, ch_group_remove(servers, extra));
	GIVES(0, ch_group_add(servers, server));
	for (int i = 0; i < EACH; i++) {
		GIVES(6, ch_receive(c[i], got, sizeof got, &from));
		CHECK(strcmp(got, "hello") == 0);
		GIVES(3, ch_receive(c[i], got, sizeof got, &from));
		GIVES(CH_EEMPTY, ch_try_receive(c[i], got, sizeof got, NULL));
	}
	SAY("ready");
	for (;;) {
		GIVES(4, ch_receive(server, got, sizeof got, &from));
		CHECK(from.call != 0);
		if (memcmp(got, "end", 4) == 0)
			break;
		GIVES(0, ch_reply(&from, &number, sizeof number));
	}
	GIVES(0, ch_reply(&from, "", 0));
	GIVES(0, ch_group_release(all));
	GIVES(0, ch_group_release(servers));
}

struct heard {
	int answers, failures, sum, last_failure;
};

static int on_answer(int place, const void *answer, long length, void *own)
{
	struct heard *heard = own;

	CHECK(place >= 0 && place < MEMBERS);
	if (length < 0) {
		heard->failures++;
		heard->last_failure = place;
		GIVES(CH_EGONE, length);
		return 1;
	}
	heard->answers++;
	if (length == sizeof(int))
		heard->sum += *(const int *)answer;
	return 1;
}

static void caller(void)
{
	ch_many *all = ch_lookup_group("everybody", MEMBERS * EACH, 10000), *servers;
	struct heard heard = { 0, 0, 0, -1 };

	CHECK(all != NULL);
	GIVES(MEMBERS * EACH, ch_many_size(all));
	CHECK(ch_lookup("everybody", 0) == NULL);
	GIVES(CH_EUNABLE, ch_error());
	CHECK(ch_lookup_group("nobody", 1, 20) == NULL);
	GIVES(CH_EUNBOUND, ch_error());
	CHECK(ch_lookup_group("everybody", MEMBERS * EACH + 1, 20) == NULL);
	GIVES(MEMBERS * EACH, ch_send_many(all, "hello", 6));
	GIVES(MEMBERS * EACH, ch_send_many(all, "all", 3));
	servers = ch_lookup_group("servers", MEMBERS, 10000);
	CHECK(servers != NULL);
	GIVES(CH_EARGUMENT, ch_many_task(servers, MEMBERS));
	GIVES(MEMBERS, ch_multirpc(servers, "ask", 4, on_answer, &heard, MEMBERS, NULL));
	GIVES(1 + 2 + 3, heard.sum);
	/* Only as many as are wanted; late answers disturb nobody. */
	CHECK(ch_multirpc(servers, "ask", 4, NULL, NULL, 1, NULL) >= 1);
	SAY("kill one");
	await_test();
	heard.answers = heard.failures = 0;
	GIVES(MEMBERS - 1, ch_multirpc(servers, "ask", 4, on_answer, &heard, MEMBERS, NULL));
	GIVES(1, heard.failures);
	SAY("dead %d", ch_many_task(servers, heard.last_failure));
	GIVES((MEMBERS - 1) * EACH, ch_send_many(all, "x", 1));
	GIVES(MEMBERS - 1, ch_multirpc(servers, "end", 4, on_answer, &heard, MEMBERS, NULL));
	GIVES(0, ch_many_release(all));
	GIVES(0, ch_many_release(servers));
}

int main(int argc, char **argv)
{
	CHECK(argc >= 2);
	if (argc == 3) {
		SAY("task %d", ch_my_task());
		member(atoi(argv[2]));
	} else {
		caller();
	}
	return 0;
}
