/*
 * A task asks for its own ledger, which must show the route that is its argument. Everything that was sent, and
 * over shared memory everything that was copied, is counted exactly.
 */
#include "check.h"

#include <dlfcn.h>
#include <parvum.h>
#include <pthread.h>
#include <stdint.h>

enum { PING = 1, PONG, GATHERED, ROUNDS = 150, SHORT = 700, LONG = 1 << 20, MEMBERS = 4, PART = 5 };

static char data[LONG];

/* What was exchanged with a peer, over one route and no other. */
static struct parvum_pair with(int tid, int route)
{
	struct parvum_pair pairs[16] = { { .size = sizeof pairs[0] } }, found = { 0 };
	int count = parvum_ledger(pairs, 16);

	CHECK(count > 0 && count <= 16);
	for (int i = 0; i < count; i++)
		if (pairs[i].peer == tid) {
			CHECK(found.size == 0);
			GIVES(sizeof found, pairs[i].size);
			GIVES(route, pairs[i].route);
			found = pairs[i];
		}
	return found;
}

static struct parvum_totals whole(void)
{
	struct parvum_totals totals = { .size = sizeof totals };

	GIVES(0, parvum_totals(&totals));
	GIVES(sizeof totals, totals.size);
	GIVES(pvm_mytid(), totals.tid);
	CHECK(totals.age_ns == totals.waiting_ns + totals.communicating_ns + totals.computing_ns);
	return totals;
}

static void tell(int tid, int tag, int length)
{
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkbyte(data, length, 1));
	OK(pvm_send(tid, tag));
}

static void ping_pong(int tid, int first, int length)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (first)
			tell(tid, PING, length);
		CHECK(pvm_recv(tid, first ? PONG : PING) > 0);
		/* What is not unpacked may never be fetched. */
		OK(pvm_upkbyte(data, length, 1));
		if (!first)
			tell(tid, PONG, length);
	}
}

/* Both see the same of each other. */
static void is_exact(struct parvum_pair pair, int copies)
{
	uint64_t bytes = ROUNDS * (uint64_t)(SHORT + LONG);

	GIVES(2 * ROUNDS, pair.sent);
	GIVES(bytes, pair.sent_bytes);
	GIVES(2 * ROUNDS, pair.arrived);
	GIVES(bytes, pair.arrived_bytes);
	GIVES(pair.arrived, pair.posted + pair.unexpected);
	GIVES(PARVUM_IN_USE, pair.why[pair.route]);
	CHECK(pair.lost + pair.discarded + pair.refused + pair.credit_waits == 0);
	if (!copies)
		return;
	/* Each byte is copied once by its sender, and once by its receiver, who fetches the long messages. */
	GIVES(ROUNDS * SHORT, pair.copied_in);
	GIVES(ROUNDS * (uint64_t)LONG, pair.buffered_at_sender);
	GIVES(ROUNDS * SHORT, pair.copied_out);
	GIVES(ROUNDS, pair.fetched);
	GIVES(ROUNDS * (uint64_t)LONG, pair.fetched_bytes);
}

/*
 * Each lets the other wait, until it has waited: how long one that is never let to run has waited, nobody can say.
 * Only sleep is counted for a peer, and who finds its message there has not slept.
 */
static void both_wait(int tid, int first, int route)
{
	int mine = 0, theirs = 0;

	for (int round = 0; round < 1000 && !(mine && theirs); round++) {
		if (!first) {
			CHECK(pvm_recv(tid, PING) > 0);
			OK(pvm_upkint(&theirs, 1, 1));
		}
		usleep(10000);
		mine = with(tid, route).waited_ns > 0;
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkint(&mine, 1, 1));
		OK(pvm_send(tid, first ? PING : PONG));
		if (first) {
			CHECK(pvm_recv(tid, PONG) > 0);
			OK(pvm_upkint(&theirs, 1, 1));
		}
	}
	CHECK(mine && theirs);
}

/* One of those who give their part to instance 0, which does not send to itself. */
static void gather(int route)
{
	int instance = pvm_joingroup("givers"), parts[PART] = { 1, 2, 3, 4, 5 }, all[PART * MEMBERS];

	CHECK(instance >= 0);
	GIVES(MEMBERS, pvm_freezegroup("givers", MEMBERS));
	struct parvum_totals before = whole();
	OK(pvm_gather(all, parts, PART, PVM_INT, GATHERED, "givers", 0));
	struct parvum_totals after = whole();
	if (instance == 0) {
		GIVES(MEMBERS - 1, after.received - before.received);
		GIVES((MEMBERS - 1) * sizeof parts, after.received_bytes - before.received_bytes);
		GIVES(0, after.sent - before.sent);
		for (int i = 1; i < MEMBERS; i++) {
			struct parvum_pair pair = with(pvm_gettid("givers", i), route);
			CHECK(pair.arrived > 0);
		}
	} else {
		GIVES(1, after.sent - before.sent);
		GIVES(sizeof parts, after.sent_bytes - before.sent_bytes);
	}
	GIVES(1, pvm_barrier("givers", MEMBERS) == PvmOk);
}

/* Waits for what comes last. */
static void *wait_inside(void *unused)
{
	CHECK(pvm_recv(-1, PONG) > 0);
	return unused;
}

/* A thread asks while another waits inside: it is answered at once, and the wait is counted so far. */
static void asked_meanwhile(void)
{
	enum { ENOUGH = 200000000 };
	struct parvum_totals before = whole(), during = before;
	pthread_t waiter;

	GIVES(0, pthread_create(&waiter, NULL, wait_inside, NULL));
	/* Nobody ends the wait before this is answered, which shows it, and for how long it has lasted. */
	while (during.waiting_ns - before.waiting_ns < ENOUGH) {
		usleep(10000);
		during = whole();
	}
	CHECK(during.age_ns - before.age_ns >= during.waiting_ns - before.waiting_ns);
	OK(pvm_psend(pvm_mytid(), PONG, "", 1, PVM_BYTE));
	GIVES(0, pthread_join(waiter, NULL));
	CHECK(whole().waiting_ns >= during.waiting_ns);
}

static void bad_arguments(void)
{
	struct parvum_pair pairs[2] = { { .size = sizeof pairs[0] } };
	struct parvum_totals totals = { .size = 8 };
	struct {
		struct parvum_pair known;
		uint64_t later;
	} larger[2];
	uint64_t smaller[8];
	int count = parvum_ledger(NULL, 0);

	CHECK(count >= 2);
	GIVES(count, parvum_ledger(pairs, 0));
	GIVES(count, parvum_ledger(pairs, 1));
	GIVES(0, pairs[1].size);
	GIVES(PARVUM_BAD_ARGUMENT, parvum_ledger(NULL, 1));
	GIVES(PARVUM_BAD_ARGUMENT, parvum_ledger(pairs, -1));
	GIVES(PARVUM_BAD_ARGUMENT, parvum_ledger((void *)((char *)pairs + 4), 1));
	int sizes[] = { 0, 8, 20, 5000, -1 };
	for (int i = 0; i < 5; i++) {
		pairs[0].size = sizes[i];
		GIVES(PARVUM_BAD_ARGUMENT, parvum_ledger(pairs, 1));
	}
	GIVES(PARVUM_BAD_ARGUMENT, parvum_totals(NULL));
	GIVES(PARVUM_BAD_ARGUMENT, parvum_totals(&totals));
	/* Of a later release, whose structures are longer: what the library does not know is zero. */
	memset(larger, 0xff, sizeof larger);
	larger[0].known.size = sizeof larger[0];
	GIVES(count, parvum_ledger(&larger[0].known, 2));
	GIVES(sizeof larger[0].known, larger[1].known.size);
	CHECK(larger[0].later == 0 && larger[1].later == 0 && larger[1].known.sent > 0);
	/* Of an earlier one, whose structures are shorter: nothing is written behind them. */
	memset(smaller, 0xff, sizeof smaller);
	*(uint32_t *)smaller = 3 * sizeof smaller[0];
	GIVES(count, parvum_ledger((void *)smaller, 2));
	CHECK(((uint32_t *)smaller)[6] == 24 && smaller[5] == larger[1].known.sent && smaller[6] == UINT64_MAX);
}

/* The names of routes, and the reasons for each, of which the first four stand in an older place too. */
static void are_named(int route)
{
	struct parvum_pair pairs[16] = { { .size = sizeof pairs[0] } };
	const char *names[] = { "itself", "shm", "tcp", "routed" };
	int count = parvum_ledger(pairs, 16), used = 0;

	for (int i = 0; i < 4; i++)
		CHECK(strcmp(parvum_route_name(i), names[i]) == 0);
	for (int i = 4; i < PARVUM_ROUTES; i++)
		CHECK(parvum_route_name(i) == NULL);
	CHECK(parvum_route_name(-1) == NULL && parvum_route_name(PARVUM_ROUTES) == NULL);
	for (int i = 0; i < count; i++) {
		CHECK(memcmp(pairs[i].why, pairs[i].why_routes, sizeof pairs[i].why) == 0);
		used += pairs[i].route == route && pairs[i].why_routes[route] == PARVUM_IN_USE;
	}
	CHECK(used > 0);
}

/* It is found without being linked with, in the process that has it. */
static void is_found(void)
{
	void *library = dlopen("libparvum.so.0", RTLD_LAZY | RTLD_NOLOAD);
	int (*ask)(struct parvum_pair *, int);

	CHECK(library != NULL);
	*(void **)&ask = dlsym(library, "parvum_ledger");
	CHECK(ask != NULL);
	GIVES(parvum_ledger(NULL, 0), ask(NULL, 0));
}

int main(int argc, char **argv)
{
	struct parvum_totals none = { .size = sizeof none };
	int tids[MEMBERS - 1], route;

	CHECK(argc > 1);
	GIVES(PARVUM_NO_TASK, parvum_ledger(NULL, 0));
	GIVES(PARVUM_NO_TASK, parvum_totals(&none));
	CHECK(parvum_route_name(PARVUM_SHM) == NULL);
	CHECK(pvm_mytid() > 0);
	route = atoi(argv[1]);
	int parent = pvm_parent() > 0, peer = pvm_parent();
	if (!parent)
		copies(argv[0], argv[1], MEMBERS - 1, tids);
	for (int i = 0; i < (parent ? 1 : MEMBERS - 1); i++) {
		if (!parent)
			peer = tids[i];
		ping_pong(peer, !parent, SHORT);
		ping_pong(peer, !parent, LONG);
		is_exact(with(peer, route), route == PARVUM_SHM);
		both_wait(peer, !parent, route);
	}
	gather(route);
	if (!parent) {
		ends(MEMBERS - 1);
		bad_arguments();
		is_found();
		are_named(route);
		asked_meanwhile();
		if (fork() == 0)
			_exit(parvum_totals(&none) != PARVUM_NO_TASK);
	}
	OK(pvm_exit());
	GIVES(PARVUM_NO_TASK, parvum_totals(&none));
	return 0;
}
