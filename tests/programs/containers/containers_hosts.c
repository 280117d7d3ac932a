/* Containers of tasks on several hosts: `parvum run -n N containers_hosts N EACH`. The task that binds the name "leader" leads;
 * each other has EACH containers in the group "all". */
#include "check.h"

#include <containers.h>

enum { ROUNDS = 5, LONG = 1 << 20, MANY = 200, MOST_EACH = 4 };

static char data[LONG], got[LONG];

static void fill(int round)
{
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 13 + i / 253 + (size_t)round);
}

static void name_of(char name[32], int task)
{
	snprintf(name, 32, "member t%x", (unsigned)task);
}

static void member(int each)
{
	ch_container *c[MOST_EACH], *server = ch_container_create(NULL, 0, 0), *own;
	ch_group *all = ch_group_create("all"), *servers = ch_group_create("servers");
	int me = ch_my_task(), value;
	ch_sender from;
	char name[32];

	name_of(name, me);
	own = ch_container_create(name, 0, 10);
	GIVES(0, ch_bind(NULL, own));
	for (int i = 0; i < each; i++) {
		c[i] = ch_container_create(NULL, 0, 0);
		GIVES(0, ch_group_add(all, c[i]));
	}
	GIVES(0, ch_group_add(servers, server));
	ch_representative *leader = ch_lookup("leader", 10000);
	CHECK(leader != NULL && ch_is_local(leader) == 0);
	/* To everybody, long and short, in order. */
	for (int round = 0; round < ROUNDS; round++) {
		fill(round);
		for (int i = 0; i < each; i++) {
			GIVES(LONG, ch_receive(c[i], got, sizeof got, &from));
			CHECK(memcmp(got, data, LONG) == 0);
			GIVES(sizeof value, ch_receive(c[i], &value, sizeof value, NULL));
			GIVES(round, value);
		}
		GIVES(0, ch_send(leader, &round, sizeof round, NULL));
	}
	/* By name; a container with bounds makes its sender wait. */
	for (int i = 0; i < MANY; i++) {
		GIVES(sizeof value, ch_receive(own, &value, sizeof value, NULL));
		GIVES(i, value);
	}
	GIVES(ch_task(leader), from.task);
	GIVES(0, ch_send(leader, &me, sizeof me, NULL));
	for (;;) {
		GIVES(sizeof value, ch_receive(server, &value, sizeof value, &from));
		CHECK(from.call != 0);
		if (value < 0)
			break;
		value += me;
		GIVES(0, ch_reply(&from, &value, sizeof value));
	}
	/* Whatever was sent before has come before: one copy each, and no more. */
	for (int i = 0; i < each; i++)
		GIVES(CH_EEMPTY, ch_try_receive(c[i], got, sizeof got, NULL));
	GIVES(CH_EEMPTY, ch_try_receive(own, got, sizeof got, NULL));
	GIVES(0, ch_reply(&from, &me, sizeof me));
	GIVES(0, ch_release(leader));
	GIVES(0, ch_group_release(all));
	GIVES(0, ch_group_release(servers));
}

static long heard;
static int on_answer(int place MAYBE_UNUSED, const void *answer, long length, void *own MAYBE_UNUSED)
{
	GIVES(sizeof(int), length);
	heard += *(const int *)answer;
	return 1;
}

static void leader(ch_container *c, int members, int each)
{
	ch_many *all = ch_lookup_group("all", members * each, 10000);
	ch_many *servers = ch_lookup_group("servers", members, 10000);
	long sum = 0, told = 0;
	int value;

	CHECK(all != NULL && servers != NULL);
	for (int round = 0; round < ROUNDS; round++) {
		fill(round);
		GIVES(members * each, ch_send_many(all, data, sizeof data));
		GIVES(members * each, ch_send_many(all, &round, sizeof round));
		/* What follows shares its way only when everybody has this. */
		for (int i = 0; i < members; i++) {
			GIVES(sizeof value, ch_receive(c, &value, sizeof value, NULL));
			GIVES(round, value);
		}
	}
	for (int i = 0; i < members; i++) {
		char name[32];
		sum += ch_many_task(servers, i);
		name_of(name, ch_many_task(servers, i));
		ch_representative *to = ch_lookup(name, 10000);
		CHECK(to != NULL);
		for (int j = 0; j < MANY; j++)
			GIVES(0, ch_send(to, &j, sizeof j, NULL));
		GIVES(0, ch_release(to));
	}
	for (int i = 0; i < members; i++) {
		GIVES(sizeof value, ch_receive(c, &value, sizeof value, NULL));
		told += value;
	}
	GIVES(sum, told);
	for (value = 0; value < 3; value++) {
		heard = 0;
		GIVES(members, ch_multirpc(servers, &value, sizeof value, on_answer, NULL, members, NULL));
		GIVES(sum + (long)members * value, heard);
	}
	heard = 0;
	value = -1;
	GIVES(members, ch_multirpc(servers, &value, sizeof value, on_answer, NULL, members, NULL));
	GIVES(sum, heard);
	GIVES(0, ch_many_release(all));
	GIVES(0, ch_many_release(servers));
}

int main(int argc, char **argv)
{
	ch_container *c = ch_container_create("leader", 0, 0);
	int tasks, each;

	CHECK(argc == 3 && c != NULL);
	tasks = atoi(argv[1]);
	each = atoi(argv[2]);
	CHECK(tasks > 1 && each >= 1 && each <= MOST_EACH);
	int bound = ch_bind(NULL, c);
	CHECK(bound == 0 || bound == CH_ENAMETAKEN);
	if (bound == 0)
		leader(c, tasks - 1, each);
	else
		member(each);
	return 0;
}
