/*
 * The jobs that run while the chaos test kills tasks, daemons and hosts. Whoever is left goes on; what
 * each task sees is in its ledger (ledger.h).
 *
 *	chaos ROLE FOLDER RUN ROUTE
 *
 *	farm	hands out units of work; who dies is replaced, and its units are given to others
 *	ring	each sends to the next that lives, and now and then to any other
 *	group	a barrier after the other, of all that live
 *	watch	asks to be told of hosts that come and go
 *
 * RUN names the job among others of its kind. ROUTE is `direct` or `routed`.
 */
#include "ledger.h"

#define MEMBERS 6
#define WORKERS 4
#define UNITS 1000000

static char **words;
static struct heard heard;

static int spawn(const char *role, int count, int *tids)
{
	char *args[] = { (char *)role, words[2], words[3], words[4], NULL };
	int started = pvm_spawn(words[0], args, PvmTaskDefault, NULL, count, tids), kept = 0;

	for (int i = 0; i < count && started > 0; i++)
		if (tids[i] > 0)
			tids[kept++] = tids[i];
	return kept;
}

/* --- The farm ------------------------------------------------------------------------------------------ */

struct worker {
	int tid, unit;
};

static struct worker workers[WORKERS];
static unsigned *sums;
static char *is_done;
static int todo[WORKERS], todo_count, next_unit, outstanding;

static void hire(void)
{
	static long long last;
	int tid;

	if (now() - last < 100000000)
		return;
	for (int i = 0; i < WORKERS; i++)
		if (workers[i].tid == 0 && spawn("farm-worker", 1, &tid) == 1) {
			workers[i] = (struct worker){ tid, -1 };
			know(tid);
		}
	last = now();
}

static void hand_out(struct worker *worker)
{
	int unit = todo_count > 0 ? todo[--todo_count] : next_unit++;
	int length = some_length();

	CHECK(unit < UNITS);
	make_content(length);
	sums[unit] = sum_of(content, length);
	if (tell(worker->tid, WORK, unit, length)) {
		worker->unit = unit;
		outstanding++;
	} else {
		todo[todo_count++] = unit;
	}
}

static void dismiss(int tid)
{
	for (int i = 0; i < WORKERS; i++)
		if (workers[i].tid == tid) {
			if (workers[i].unit >= 0) {
				todo[todo_count++] = workers[i].unit;
				outstanding--;
			}
			workers[i].tid = 0;
		}
}

static void accept_result(int tid)
{
	unsigned sum;
	int unit = heard.number;

	CHECK(unit >= 0 && unit < next_unit && heard.length == sizeof sum);
	memcpy(&sum, content, sizeof sum);
	int awaited = 0;

	for (int i = 0; i < WORKERS; i++)
		if (workers[i].tid == tid && workers[i].unit == unit) {
			workers[i].unit = -1;
			outstanding--;
			awaited = 1;
		}
	/* The last words of a lost host's task may come behind the notice of its end: by then
	 * another has the unit, with other content. */
	if (!awaited || is_done[unit])
		return;
	is_done[unit] = 1;
	note("%s %d", sum == sums[unit] ? "accept" : "wrong", unit);
}

static void farm(void)
{
	sums = calloc(UNITS, sizeof *sums);
	is_done = calloc(UNITS, 1);
	CHECK(sums != NULL && is_done != NULL);
	while (!is_up("finish") || outstanding > 0 || todo_count > 0) {
		hire();
		for (int i = 0; i < WORKERS; i++)
			if (is_there(workers[i].tid) && workers[i].unit < 0 && (todo_count > 0 || !is_up("finish")))
				hand_out(workers + i);
		while (listen_for(&heard, 10000)) {
			if (heard.tag == RESULT)
				accept_result(heard.tid);
			else if (heard.tag == EXITED)
				dismiss(heard.tid);
		}
		if (is_up("leave"))
			break;
	}
	settle();
}

static void farm_worker(void)
{
	int master = pvm_parent();

	know(master);
	for (;;) {
		if (is_up("leave") || find_peer(master)->finished)
			break;
		if (!is_there(master))
			end_early("the master is gone");
		if (!listen_for(&heard, 100000) || heard.tag != WORK)
			continue;
		usleep(5000);
		memcpy(content, &heard.sum, sizeof heard.sum);
		tell(master, RESULT, heard.number, sizeof heard.sum);
	}
	settle();
}

/* --- Rings and groups ---------------------------------------------------------------------------------- */

static int members[MEMBERS], member_count, my_place;

/* The head starts the others, and tells all who is there. */
static void gather(const char *role)
{
	members[0] = pvm_mytid();
	member_count = 1 + spawn(role, MEMBERS - 1, members + 1);
	for (int i = 1; i < member_count; i++)
		know(members[i]);
	for (int i = 1; i < member_count; i++) {
		memcpy(content, members, sizeof members);
		if (is_there(members[i]))
			tell(members[i], LIST, member_count, sizeof members);
	}
}

static void be_gathered(void)
{
	int head = pvm_parent();

	know(head);
	/* Others may speak before the head does. */
	do {
		listen_for(&heard, 100000);
		if (!is_there(head) || is_up("leave"))
			end_early("the head is gone");
	} while (heard.tag != LIST);
	member_count = heard.number;
	memcpy(members, content, sizeof members);
	for (int i = 0; i < member_count; i++) {
		if (members[i] == pvm_mytid())
			my_place = i;
		else if (members[i] != head)
			know(members[i]);
	}
}

static void send_to(int at)
{
	int length = some_length();

	make_content(length);
	tell(members[at], RING, 0, length);
}

/* To the next that lives, and now and then to any other. */
static void send_on(void)
{
	int any = (int)draw((unsigned)member_count);

	for (int step = 1; step < member_count; step++) {
		int at = (my_place + step) % member_count;
		if (is_there(members[at])) {
			send_to(at);
			break;
		}
	}
	if (any != my_place && is_there(members[any]) && draw(4) == 0)
		send_to(any);
}

/* Takes in what comes, for so long. */
static void take_all(unsigned microseconds)
{
	long long until = now() + microseconds * 1000LL;

	do
		listen_for(&heard, 1000);
	while (now() < until);
}

static void ring(void)
{
	while (!is_up("finish")) {
		send_on();
		take_all(10000 + draw(20000));
	}
	settle();
}

/* All have joined before the first barrier. */
static void join(char *group, int is_head)
{
	int missing = member_count - 1;

	CHECK(pvm_joingroup(group) >= 0);
	if (!is_head) {
		if (!tell(members[0], JOINED, 0, 0))
			end_early("the head is gone");
		while (listen_for(&heard, 100000) == 0 || heard.tag != GO)
			if (!is_there(members[0]) || is_up("finish"))
				end_early("the head is gone");
		return;
	}
	while (missing > 0 && !is_up("finish"))
		if (listen_for(&heard, 100000))
			missing -= heard.tag == JOINED || heard.tag == EXITED;
	for (int i = 1; i < member_count; i++)
		if (is_there(members[i]))
			tell(members[i], GO, 0, 0);
}

static void meet(char *group, int is_head)
{
	int info;

	join(group, is_head);
	for (int round = 0; !is_up("finish"); round++) {
		note("enter %d %lld", round, now());
		/* Broken when a member dies: those that are left meet all the same. */
		while ((info = pvm_barrier(group, -1)) < 0 && !is_up("leave")) {
			note("broken %d %d", round, info);
			take_all(20000);
		}
		note("leave %d %lld", round, now());
		send_on();
		take_all(5000 + draw(5000));
	}
	pvm_lvgroup(group);
	settle();
}

/* --- Hosts that come and go ---------------------------------------------------------------------------- */

static int known_hosts[PEERS], known_count;

static void watch_host(int tid)
{
	for (int i = 0; i < known_count; i++)
		if (known_hosts[i] == tid)
			return;
	CHECK(known_count < PEERS);
	known_hosts[known_count++] = tid;
	note("asked delete %x", tid);
	OK(pvm_notify(PvmHostDelete, DELETED, 1, &tid));
}

static void watch(void)
{
	struct pvmhostinfo *hosts;
	int count;

	note("asked add %llx", now());
	OK(pvm_notify(PvmHostAdd, ADDED, -1, NULL));
	OK(pvm_config(&count, NULL, &hosts));
	for (int i = 0; i < count; i++)
		watch_host(hosts[i].hi_tid);
	note("watching");
	while (!is_up("leave")) {
		if (is_up("finish")) {
			note("settled");
			while (!is_up("leave"))
				listen_for(&heard, 100000);
			break;
		}
		if (!listen_for(&heard, 100000))
			continue;
		if (heard.tag == ADDED)
			watch_host(heard.tid);
		for (int i = 0; heard.tag == DELETED && i < known_count; i++)
			if (known_hosts[i] == heard.tid)
				known_hosts[i] = known_hosts[--known_count];
	}
	pvm_exit();
}

int main(int argc, char **argv)
{
	CHECK(argc == 5);
	words = argv;
	folder = argv[2];
	pvm_setopt(PvmAutoErr, 0);
	CHECK(pvm_mytid() > 0);
	pvm_setopt(PvmRoute, strcmp(argv[4], "routed") == 0 ? PvmDontRoute : PvmRouteDirect);
	open_ledger(argv[3], argv[1]);
	if (strcmp(argv[1], "farm") == 0) {
		farm();
	} else if (strcmp(argv[1], "farm-worker") == 0) {
		farm_worker();
	} else if (strcmp(argv[1], "ring") == 0) {
		gather("ring-member");
		ring();
	} else if (strcmp(argv[1], "ring-member") == 0) {
		be_gathered();
		ring();
	} else if (strcmp(argv[1], "group") == 0) {
		gather("group-member");
		meet(argv[3], 1);
	} else if (strcmp(argv[1], "group-member") == 0) {
		be_gathered();
		meet(argv[3], 0);
	} else {
		CHECK(strcmp(argv[1], "watch") == 0);
		watch();
	}
	return 0;
}
