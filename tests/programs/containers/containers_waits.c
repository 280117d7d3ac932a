/* Tasks that wait in calls of containers, for those who look on: `containers_waits holder|caller|sender|short`. */
#include "check.h"

#include <containers.h>

static char got[16];

static ch_representative *to(const char *name)
{
	ch_representative *found = ch_lookup(name, 10000);

	CHECK(found != NULL);
	return found;
}

/* Waits at one container for ever; to others of its own something comes. */
static void holder(void)
{
	static const char *const names[] = { "inbox", "other", "small" };
	ch_container *c[3];

	for (int i = 0; i < 3; i++) {
		c[i] = ch_container_create(names[i], 0, i == 2);
		GIVES(0, ch_bind(NULL, c[i]));
	}
	ch_receive(c[0], got, sizeof got, NULL);
}

/* Its calls wait for a limited time. */
static void limited(void)
{
	ch_container *c = ch_container_create("limited", 0, 0);
	ch_state *state = ch_state_create(CH_RELIABLE);

	GIVES(0, ch_bind(NULL, c));
	GIVES(CH_EEMPTY, ch_receive_within(c, got, sizeof got, NULL, 50));
	GIVES(0, ch_set_timer(state, 50, NULL));
	GIVES(CH_ETIMEDOUT, ch_rpc(to("limited"), "ask", 4, got, sizeof got, state));
	CHECK(ch_lookup("nobody", 50) == NULL);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	if (strcmp(argv[1], "holder") == 0) {
		holder();
	} else if (strcmp(argv[1], "caller") == 0) {
		GIVES(0, ch_send(to("other"), "note", 4, NULL));
		ch_rpc(to("other"), "ask", 3, got, sizeof got, NULL);
	} else if (strcmp(argv[1], "sender") == 0) {
		ch_representative *small = to("small");
		GIVES(0, ch_send(small, "one", 3, NULL));
		ch_send(small, "two", 3, NULL);
	} else {
		limited();
	}
	return 0;
}
