/* Each call of containers that waits, in one thread; a second thread sends to itself meanwhile and must not stand still.
 *
 * containers_beside SITUATION: the partner comes half a second late (`silent`, and then there is no credit any more), is stopped (`stopped`), the daemon is stopped (`daemon`), or
 * sends and takes 256 MiB in messages of 4 MiB (`long`). Run it with a credit of 65,536 bytes. Starts its partner itself. */
#include "check.h"
#include "beside.h"

#include <containers.h>

static size_t length = 3000;
static int count = 200;
static char *buffer, *other;
static ch_container *mine, *own, *orders, *bounded;
static ch_representative *to_partner, *to_self, *to_orders, *to_bounded;

static void beside_round(void)
{
	int value = 1;

	GIVES(0, ch_send(to_self, &value, sizeof value, NULL));
	GIVES(sizeof value, ch_receive(own, &value, sizeof value, NULL));
}

static ch_container *bound(const char *side, const char *name, int most)
{
	char full[80];
	ch_container *made;

	snprintf(full, sizeof full, "beside-%s-%s", side, name);
	made = ch_container_create(full, 0, most);
	CHECK(made != NULL);
	GIVES(0, ch_bind(NULL, made));
	return made;
}

static ch_representative *find(const char *side, const char *name)
{
	char full[80];
	ch_representative *found;

	snprintf(full, sizeof full, "beside-%s-%s", side, name);
	found = ch_lookup(full, 60000);
	CHECK(found != NULL);
	return found;
}

static void send_all(void)
{
	for (int i = 0; i < count; i++)
		GIVES(0, ch_send(to_partner, buffer, length, NULL));
}
static void receive_all(void)
{
	for (int i = 0; i < count; i++)
		GIVES(length, ch_receive(mine, buffer, length, NULL));
}
static void receive_in_time(void)
{
	for (int i = 0; i < count; i++)
		GIVES(length, ch_receive_within(mine, buffer, length, NULL, 100000));
}
static void fill_bounded(void)
{
	for (int i = 0; i < count; i++)
		GIVES(0, ch_send(to_bounded, buffer, length, NULL));
}
static void empty_bounded(void)
{
	for (int i = 0; i < count; i++)
		GIVES(length, ch_receive(bounded, buffer, length, NULL));
}
static void take_references(void)
{
	for (int i = 0; i < count; i++) {
		ch_reference *reference = ch_receive_reference(mine, -1, NULL);

		CHECK(reference != NULL);
		GIVES(0, ch_reference_read(reference, 0, buffer, length));
		GIVES(0, ch_reference_release(reference));
	}
}
static void ask_all(void)
{
	for (int i = 0; i < count; i++)
		GIVES(length, ch_rpc(to_partner, buffer, length, other, length, NULL));
}
static void answer_all(void)
{
	ch_sender from;

	for (int i = 0; i < count; i++) {
		GIVES(length, ch_receive(mine, buffer, length, &from));
		GIVES(0, ch_reply(&from, buffer, length));
	}
}
static void look_up(void)
{
	CHECK(ch_lookup("nobody-has-bound-this", 500) == NULL);
}
static void nothing(void) { }

static const struct beside_call calls[] = {
	{ "ch_receive", receive_all, send_all },
	{ "ch_receive_within", receive_in_time, send_all },
	{ "ch_receive_reference", take_references, send_all },
	{ "ch_send", send_all, receive_all },
	{ "ch_send-bounded", fill_bounded, empty_bounded },
	{ "ch_rpc", ask_all, answer_all },
	{ "ch_lookup", look_up, nothing },
};
#define CALLS ((int)(sizeof calls / sizeof calls[0]))

static const char *situation;
static pid_t partner;

static void tell_partner(int at)
{
	GIVES(0, ch_send(to_orders, &at, sizeof at, NULL));
	beside_disturb(situation, partner, 400);
}

static void serve(void)
{
	int at;

	for (;;) {
		GIVES(sizeof at, ch_receive(orders, &at, sizeof at, NULL));
		if (at < 0)
			return;
		if (!strcmp(situation, "silent"))
			usleep(500000);
		calls[at].its();
	}
}

int main(int argc, char **argv)
{
	int bad, at, second = argc > 2;

	CHECK(argc > 1);
	situation = argv[1];
	if (!strcmp(situation, "long") || !strcmp(situation, "stopped")) {
		length = 4 << 20;
		count = 64;
	}
	if (!second && (partner = fork()) == 0) {
		execl(argv[0], argv[0], situation, "partner", (char *)NULL);
		_exit(127);
	}
	buffer = calloc(1, length);
	other = calloc(1, length);
	mine = bound(second ? "second" : "first", "data", 0);
	bounded = bound(second ? "second" : "first", "bounded", 4);
	own = bound(second ? "second" : "first", "own", 0);
	orders = bound(second ? "second" : "first", "orders", 0);
	to_self = find(second ? "second" : "first", "own");
	to_partner = find(second ? "first" : "second", "data");
	to_bounded = find(second ? "first" : "second", "bounded");
	to_orders = find(second ? "first" : "second", "orders");
	if (second) {
		serve();
		return 0;
	}
	bad = beside_judge(calls, CALLS, tell_partner);
	at = -1;
	GIVES(0, ch_send(to_orders, &at, sizeof at, NULL));
	CHECK(waitpid(partner, NULL, 0) == partner);
	return bad != 0;
}
