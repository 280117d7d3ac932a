/* Containers of one task: names, limits, and what is refused. */
#include "check.h"

#include <containers.h>
#include <sys/wait.h>

#define FAILS(error, call)                   \
	do {                                 \
		GIVES(error, call);          \
		GIVES(error, ch_error());    \
	} while (0)
#define NOTHING(error, call)                 \
	do {                                 \
		CHECK((call) == NULL);       \
		GIVES(error, ch_error());    \
	} while (0)

static char data[300000], got[300000];

/* What makes no sense is refused, and the text says what to do. */
static void nonsense(ch_container *c, ch_representative *to)
{
	static char bad[] = "\xff\xfe", longer[1100];
	ch_sender from = { 0 };
	ch_state *state = ch_state_create(CH_RELIABLE);

	memset(longer, 'x', sizeof longer - 1);
	CHECK(state != NULL);
	NOTHING(CH_EARGUMENT, ch_container_create("n", 0, -1));
	NOTHING(CH_EARGUMENT, ch_container_create(bad, 0, 0));
	NOTHING(CH_EARGUMENT, ch_container_for_tag(-1));
	NOTHING(CH_EARGUMENT, ch_representative_for_tag(7, 1));
	NOTHING(CH_EARGUMENT, ch_representative_for_tag(ch_my_task(), -1));
	NOTHING(CH_EARGUMENT, ch_lookup(NULL, 0));
	NOTHING(CH_EARGUMENT, ch_lookup_group("g", -1, 0));
	NOTHING(CH_EARGUMENT, ch_state_create(7));
	FAILS(CH_EARGUMENT, ch_bind("n", NULL));
	FAILS(CH_EARGUMENT, ch_bind("", c));
	FAILS(CH_EARGUMENT, ch_bind(longer, c));
	FAILS(CH_EARGUMENT, ch_bind(bad, c));
	FAILS(CH_EARGUMENT, ch_unbind(NULL));
	FAILS(CH_EARGUMENT, ch_bind("n", (const ch_container *)(const void *)to));
	FAILS(CH_EARGUMENT, ch_send(NULL, data, 1, NULL));
	FAILS(CH_EARGUMENT, ch_send(to, NULL, 1, NULL));
	FAILS(CH_EARGUMENT, ch_send(to, data, (size_t)-1, NULL));
	FAILS(CH_EARGUMENT, ch_send((const ch_representative *)(const void *)c, data, 1, NULL));
	FAILS(CH_EARGUMENT, ch_receive(NULL, got, sizeof got, NULL));
	FAILS(CH_EARGUMENT, ch_try_receive(c, NULL, 1, NULL));
	FAILS(CH_EARGUMENT, ch_reply(NULL, data, 1));
	FAILS(CH_EARGUMENT, ch_reply(&from, data, 1));
	FAILS(CH_EARGUMENT, ch_rpc(NULL, data, 1, got, 1, NULL));
	FAILS(CH_EARGUMENT, ch_multirpc(NULL, data, 1, NULL, NULL, 1, NULL));
	FAILS(CH_EARGUMENT, ch_set_timer(NULL, 1, NULL));
	FAILS(CH_EARGUMENT, ch_set_timer(state, -1, NULL));
	FAILS(CH_EARGUMENT, ch_container_destroy(NULL));
	FAILS(CH_EARGUMENT, ch_release(NULL));
	FAILS(CH_EARGUMENT, ch_reference_release(NULL));
	FAILS(CH_EARGUMENT, ch_gang_run(NULL, NULL, 1, NULL));
	FAILS(CH_EARGUMENT, ch_gang_run("sh", NULL, 0, NULL));
	FAILS(CH_EREFUSED, ch_gang_run("/no/such/program", NULL, 1, NULL));
	CHECK(strstr(ch_error_text(CH_EGONE), "look its name up again") != NULL);
	CHECK(strstr(ch_error_text(-1000), "no such error") != NULL);
	char few[8];
	CHECK(ch_reason(few, sizeof few) > 0 && strlen(few) < sizeof few);
	GIVES(0, ch_state_destroy(state));
}

static void names(ch_container *c)
{
	ch_container *second = ch_container_create("own name", 0, 0), *nameless = ch_container_create(NULL, 0, 0);
	char many[300][16];
	const char *list[300];
	const ch_container *containers[300];
	ch_representative *found[300];

	CHECK(second != NULL && ch_container_number(second) != ch_container_number(c));
	FAILS(CH_ENAMETAKEN, ch_bind("first", second));
	FAILS(CH_ENAMETAKEN, ch_bind(NULL, c));
	GIVES(0, ch_bind(NULL, second));
	FAILS(CH_EARGUMENT, ch_bind(NULL, nameless));
	NOTHING(CH_EUNBOUND, ch_lookup("nobody's", 0));
	NOTHING(CH_EUNBOUND, ch_lookup("nobody's", 30));
	FAILS(CH_EUNBOUND, ch_unbind("nobody's"));
	for (int i = 0; i < 300; i++) {
		snprintf(many[i], sizeof many[i], "many/%d", i);
		list[i] = many[i];
		containers[i] = i % 2 ? c : second;
	}
	uint64_t before = ch_exchanges();
	GIVES(0, ch_bind_many(list, containers, 300));
	GIVES(before + 1, ch_exchanges());
	FAILS(CH_ENAMETAKEN, ch_bind_many(list + 299, containers, 1));
	strcpy(many[7], "many/x");
	GIVES(299, ch_lookup_many(list, 300, 0, found));
	CHECK(found[7] == NULL && ch_number(found[8]) == ch_container_number(second));
	for (int i = 0; i < 300; i++)
		if (found[i])
			GIVES(0, ch_release(found[i]));
	GIVES(0, ch_unbind("own name"));
	GIVES(0, ch_bind("own name", c));
	GIVES(0, ch_unbind("own name"));
	GIVES(0, ch_container_destroy(second));
	GIVES(0, ch_container_destroy(nameless));
}

/* Kept in order up to the limit; one too long for the room stays. */
static void limits(void)
{
	ch_container *c = ch_container_create(NULL, 1000, 5);
	GIVES(0, ch_bind("small", c));
	ch_representative *to = ch_lookup("small", 0);
	ch_state *datagrams = ch_state_create(CH_DATAGRAM);
	ch_sender from;

	CHECK(to != NULL && ch_is_local(to) == 1 && ch_task(to) == ch_my_task());
	for (char i = 0; i < 5; i++)
		GIVES(0, ch_send(to, &i, 1, NULL));
	/* Nobody can receive while this call waits. */
	FAILS(CH_EFULL, ch_send(to, data, 1, NULL));
	GIVES(0, ch_send(to, data, 1, datagrams));
	GIVES(0, ch_oneway(to, data, 1, datagrams));
	GIVES(2, ch_state_dropped(datagrams));
	for (char i = 0; i < 5; i++) {
		GIVES(1, ch_receive(c, got, sizeof got, &from));
		CHECK(got[0] == i && from.task == ch_my_task() && from.call == 0 && from.length == 1);
	}
	FAILS(CH_EEMPTY, ch_try_receive(c, got, sizeof got, NULL));
	FAILS(CH_EEMPTY, ch_receive_within(c, got, sizeof got, NULL, 10));
	FAILS(CH_ETOOLARGE, ch_send(to, data, 1001, NULL));
	GIVES(0, ch_send(to, data, 600, NULL));
	FAILS(CH_EFULL, ch_send(to, data, 401, NULL));
	GIVES(0, ch_send(to, data, 400, NULL));
	for (int i = 0; i < 2; i++) {
		FAILS(CH_EROOM, ch_receive(c, got, 599, &from));
		GIVES(600, from.length);
	}
	GIVES(600, ch_receive(c, got, 600, NULL));
	GIVES(400, ch_receive(c, got, 400, NULL));
	GIVES(0, ch_state_destroy(datagrams));

	GIVES(0, ch_send(to, data, 1, NULL));
	GIVES(0, ch_container_destroy(c));
	FAILS(CH_EGONE, ch_send(to, data, 1, NULL));
	/* The name still leads there; a new container takes it over. */
	GIVES(0, ch_unbind("small"));
	c = ch_container_create(NULL, 0, 0);
	GIVES(0, ch_bind("small", c));
	FAILS(CH_EGONE, ch_send(to, data, 1, NULL));
	GIVES(0, ch_release(to));
	to = ch_lookup("small", 0);
	GIVES(0, ch_send(to, "new", 4, NULL));
	GIVES(4, ch_receive(c, got, sizeof got, NULL));
	GIVES(0, ch_release(to));
	GIVES(0, ch_container_destroy(c));
}

/* A pool has what it was given, grows if it may, and lends nothing twice. */
static void pools(void)
{
	ch_pool *fixed = ch_pool_create(100, 2, 0), *growing = ch_pool_create(4096, 0, 1);
	char *one, *two;

	NOTHING(CH_EARGUMENT, ch_pool_create(0, 1, 0));
	NOTHING(CH_EARGUMENT, ch_pool_create(1, -1, 0));
	NOTHING(CH_EARGUMENT, ch_pool_create((size_t)-1, 2, 0));
	NOTHING(CH_EARGUMENT, ch_buffer_get(NULL, 1));
	FAILS(CH_EARGUMENT, ch_pool_free(NULL));
	CHECK((one = ch_buffer_get(fixed, 1)) != NULL && (two = ch_buffer_get(fixed, 1)) != NULL && one != two);
	memset(one, 1, 100);
	memset(two, 2, 100);
	NOTHING(CH_EBUFFER, ch_buffer_get(fixed, 1));
	FAILS(CH_EBUFFER, ch_pool_destroy(fixed));
	FAILS(CH_EARGUMENT, ch_buffer_put(growing, one));
	GIVES(0, ch_buffer_put(fixed, one));
	FAILS(CH_EARGUMENT, ch_buffer_put(fixed, one));
	GIVES(1, ch_pool_free(fixed));
	CHECK(ch_buffer_get(fixed, 0) == one && two[99] == 2);
	GIVES(0, ch_buffer_put(fixed, one));
	GIVES(0, ch_buffer_put(fixed, two));
	GIVES(0, ch_pool_grown(fixed));
	NOTHING(CH_EBUFFER, ch_buffer_get(growing, 0));
	CHECK((one = ch_buffer_get(growing, 1)) != NULL);
	GIVES(1, ch_pool_grown(growing));
	GIVES(0, ch_buffer_put(growing, one));
	GIVES(0, ch_pool_destroy(fixed));
	GIVES(0, ch_pool_destroy(growing));
}

static void sizes(ch_container *c, ch_representative *to)
{
	static const size_t lengths[] = { 0, 1, 63, 64, 65, 1399, 1400, 1401, 4095, 4096, 4097, 300000 };

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i * 7 + i / 251);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		GIVES(0, ch_send(to, data, lengths[i], NULL));
		memset(got, 0, sizeof got);
		GIVES(lengths[i], ch_receive(c, got, sizeof got, NULL));
		CHECK(memcmp(got, data, lengths[i]) == 0);
	}
}

/* A child is another task: what it has from its parent it cannot use. */
static void child(ch_container *c, ch_representative *to)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		FAILS(CH_EFORKED, ch_send(to, data, 1, NULL));
		FAILS(CH_EFORKED, ch_try_receive(c, got, 1, NULL));
		to = ch_lookup("first", 0);
		CHECK(to != NULL && ch_is_local(to) == 0);
		GIVES(0, ch_send(to, "from the child", 15, NULL));
		exit(0);
	}
	GIVES(15, ch_receive(c, got, sizeof got, NULL));
	CHECK(strcmp(got, "from the child") == 0);
	GIVES(pid, waitpid(pid, &status, 0));
	GIVES(0, status);
}

int main(void)
{
	ch_container *c = ch_container_create("first", 0, 0);

	CHECK(c != NULL);
	GIVES(0, ch_bind("first", c));
	ch_representative *to = ch_lookup("first", 0);
	CHECK(to != NULL);
	GIVES(ch_container_number(c), ch_number(to));
	nonsense(c, to);
	names(c);
	limits();
	pools();
	sizes(c, to);
	child(c, to);
	GIVES(0, ch_release(to));
	GIVES(0, ch_container_destroy(c));
	return 0;
}
