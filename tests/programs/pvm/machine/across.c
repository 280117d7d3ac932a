/*
 * Programs over several hosts. Does as its first argument says, with the hosts of the machine as
 * they are when it starts; checks itself.
 *
 *	places			a copy on each host by name: it is there, and says so; likewise by architecture
 *	ring			messages of many lengths, one way round all hosts and the other, with checksums
 *	flood COUNT BYTES	to a copy on the last host, which begins to receive when all are under way
 *	together		a group over all hosts, its barrier, broadcast, reduction; the mailbox
 *	kill			copies on all hosts are killed by tid, and each end is told once
 *	tasks			pvm_tasks shows the copies, of all hosts and of one
 *	output			copies on all hosts print
 *	watch			tells the test of the ends of copies on all hosts, of hosts gone and new
 *	fan			an mcast of 1 MiB to two copies on each host
 */
#include "check.h"

#include <poll.h>

#define MOST 16
enum { HELLO = 1, DATA, GO, EXITED, DELETED, ADDED, OWN };

static struct pvmhostinfo hosts[MOST];
static int count;

static void look(void)
{
	struct pvmhostinfo *table;

	OK(pvm_config(&count, NULL, &table));
	CHECK(count <= MOST);
	for (int i = 0; i < count; i++) {
		hosts[i] = table[i];
		hosts[i].hi_name = strdup(table[i].hi_name);
	}
}

/* One copy on each host, in the order of the hosts. */
static void spread(char *self, char *role, int *tids)
{
	char *args[] = { role, NULL };

	for (int i = 0; i < count; i++) {
		GIVES(1, pvm_spawn(self, args, PvmTaskHost, hosts[i].hi_name, 1, tids + i));
		GIVES(hosts[i].hi_tid, pvm_tidtohost(tids[i]));
		OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, tids + i));
	}
}

static unsigned sum_of(const char *data, int length)
{
	unsigned sum = 2166136261u;

	for (int i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)data[i]) * 16777619u;
	return sum;
}

static const int lengths[] = { 0, 8, 100, 1000, 4096, 16384, 65536, 262144, 1048576, 4194304 };
#define LENGTHS (int)(sizeof lengths / sizeof *lengths)

static char *data;

static void put(int to, int seed, int length)
{
	unsigned sum;

	for (int i = 0; i < length; i++)
		data[i] = (char)(i * 31 + seed * 7 + (i >> 8));
	sum = sum_of(data, length);
	CHECK(pvm_initsend(seed % 2 ? PvmDataDefault : PvmDataRaw) > 0);
	OK(pvm_pkint(&seed, 1, 1));
	OK(pvm_pkint(&length, 1, 1));
	OK(pvm_pkuint(&sum, 1, 1));
	OK(pvm_pkbyte(data, length, 1));
	OK(pvm_send(to, DATA));
}

static void get(int from, int seed, int length)
{
	int got[2];
	unsigned sum;

	hear(from, DATA);
	OK(pvm_upkint(got, 2, 1));
	OK(pvm_upkuint(&sum, 1, 1));
	GIVES(seed, got[0]);
	GIVES(length, got[1]);
	memset(data, 0, (size_t)length);
	OK(pvm_upkbyte(data, length, 1));
	GIVES(sum, sum_of(data, length));
}

static void tell_all(int *tids)
{
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&count, 1, 1));
	OK(pvm_pkint(tids, count, 1));
	OK(pvm_mcast(tids, count, GO));
}

static int hear_all(int *tids)
{
	int me = 0;

	CHECK(pvm_recv(pvm_parent(), GO) > 0);
	OK(pvm_upkint(&count, 1, 1));
	OK(pvm_upkint(tids, count, 1));
	while (tids[me] != pvm_mytid())
		me++;
	return me;
}

/* A part of the ring: right round, then left round, then all at once. */
static void ring_part(void)
{
	int tids[MOST], me = hear_all(tids);

	for (int way = 1; way >= -1; way -= 2) {
		int next = tids[(me + way + count) % count], last = tids[(me - way + count) % count];
		for (int i = 0; i < LENGTHS; i++) {
			if (me == 0)
				put(next, i, lengths[i]);
			get(last, i, lengths[i]);
			if (me != 0)
				put(next, i, lengths[i]);
		}
		for (int i = 0; i < LENGTHS; i++)
			put(next, i, lengths[i]);
		for (int i = 0; i < LENGTHS; i++)
			get(last, i, lengths[i]);
	}
}

static void flood(char *self, int messages, int length)
{
	int tid;
	char *args[] = { "flood-part", NULL };

	GIVES(1, pvm_spawn(self, args, PvmTaskHost, hosts[count - 1].hi_name, 1, &tid));
	OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, &tid));
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&messages, 1, 1));
	OK(pvm_pkint(&length, 1, 1));
	OK(pvm_send(tid, GO));
	for (int i = 0; i < messages; i++)
		put(tid, i, length);
	hear(tid, HELLO);
	ends(1);
}

static void flood_part(void)
{
	int messages, length;

	CHECK(pvm_recv(pvm_parent(), GO) > 0);
	OK(pvm_upkint(&messages, 1, 1));
	OK(pvm_upkint(&length, 1, 1));
	usleep(300000);
	for (int i = 0; i < messages; i++)
		get(pvm_parent(), i, length);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(pvm_parent(), HELLO));
}

static void say_hello(void)
{
	char name[256];

	gethostname(name, sizeof name);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkstr(name));
	OK(pvm_send(pvm_parent(), HELLO));
}

static void places(char *self)
{
	char name[256], *args[] = { "hello", NULL };
	int tids[2 * MOST], seen = 0;

	spread(self, "hello", tids);
	for (int i = 0; i < count; i++) {
		hear(tids[i], HELLO);
		OK(pvm_upkstr(name));
		if (strcmp(name, hosts[i].hi_name) != 0) {
			fprintf(stderr, "a task for %s runs on %s\n", hosts[i].hi_name, name);
			_exit(1);
		}
	}
	ends(count);
	/* Anywhere: how they are spread depends on how busy each host is, and a new one looks idle. */
	GIVES(2 * count, pvm_spawn(self, args, PvmTaskArch, hosts[0].hi_arch, 2 * count, tids));
	OK(pvm_notify(PvmTaskExit, TAG_ENDED, 2 * count, tids));
	for (int i = 0; i < 2 * count; i++) {
		hear(tids[i], HELLO);
		for (int h = 0; h < count; h++)
			if (pvm_tidtohost(tids[i]) == hosts[h].hi_tid)
				seen |= 1 << h;
	}
	CHECK(seen != 0);
	ends(2 * count);
	/* Where there is no such host. */
	GIVES(0, pvm_spawn(self, args, PvmTaskHost, "nowhere", 1, tids));
	GIVES(PvmNoHost, tids[0]);
	GIVES(0, pvm_spawn("no-such-program", NULL, PvmTaskHost, hosts[count - 1].hi_name, 1, tids));
	GIVES(PvmNoFile, tids[0]);
}

static void together_part(void)
{
	int tids[MOST], me = hear_all(tids), value = me + 1, index, bufid;
	char name[32];

	CHECK(pvm_joingroup("across") >= 0);
	OK(pvm_barrier("across", count));
	GIVES(count, pvm_gsize("across"));
	for (int i = 0; i < count; i++)
		GIVES(tids[i], pvm_gettid("across", pvm_getinst("across", tids[i])));
	for (int round = 0; round < 50; round++)
		OK(pvm_barrier("across", count));
	OK(pvm_reduce(PvmSum, &value, 1, PVM_INT, DATA, "across", 0));
	if (pvm_getinst("across", pvm_mytid()) == 0)
		GIVES(count * (count + 1) / 2, value);
	/* Everybody leaves a message and reads that of the next. */
	snprintf(name, sizeof name, "across%d", me);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&me, 1, 1));
	index = pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault);
	GIVES(0, index);
	OK(pvm_barrier("across", count));
	snprintf(name, sizeof name, "across%d", (me + 1) % count);
	bufid = pvm_recvinfo(name, 0, PvmMboxDefault);
	CHECK(bufid > 0);
	OK(pvm_upkint(&value, 1, 1));
	GIVES((me + 1) % count, value);
	OK(pvm_barrier("across", count));
	if (me == 0) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_pkint(&count, 1, 1));
		OK(pvm_bcast("across", HELLO));
	} else {
		hear(tids[0], HELLO);
	}
	OK(pvm_barrier("across", count));
	OK(pvm_lvgroup("across"));
}

/* Each end is told of once, and nobody is a task any more. */
static void await_ends(const int *tids)
{
	int tid, seen = 0;

	for (int i = 0; i < count; i++) {
		CHECK(pvm_recv(-1, TAG_ENDED) > 0);
		OK(pvm_upkint(&tid, 1, 1));
		for (int h = 0; h < count; h++)
			if (tid == tids[h])
				seen += 1 << h;
	}
	GIVES((1 << count) - 1, seen);
	for (int i = 0; i < count; i++)
		GIVES(PvmNoTask, pvm_pstat(tids[i]));
	usleep(100000);
	GIVES(0, pvm_probe(-1, TAG_ENDED));
}

static void killing(char *self)
{
	int tids[MOST];

	spread(self, "wait", tids);
	for (int i = 0; i < count; i++)
		hear(tids[i], HELLO);
	for (int i = 0; i < count; i++)
		OK(pvm_kill(tids[i]));
	await_ends(tids);
	/* These leave, and their processes go on. */
	spread(self, "leave", tids);
	await_ends(tids);
	for (int i = 0; i < count; i++)
		OK(pvm_kill(tids[i]));
}

static int listed(int where, int tid)
{
	struct pvmtaskinfo *table;
	int tasks, found = 0;

	OK(pvm_tasks(where, &tasks, &table));
	for (int i = 0; i < tasks; i++)
		found += table[i].ti_tid == tid && table[i].ti_host == pvm_tidtohost(tid);
	return found;
}

static void listing(char *self)
{
	int tids[MOST];

	spread(self, "wait", tids);
	for (int i = 0; i < count; i++) {
		hear(tids[i], HELLO);
		OK(pvm_pstat(tids[i]));
		GIVES(PvmOk, pvm_mstat(hosts[i].hi_name));
	}
	for (int i = 0; i < count; i++) {
		GIVES(1, listed(0, tids[i]));
		GIVES(1, listed(tids[i], tids[i]));
		for (int h = 0; h < count; h++)
			GIVES(h == i, listed(hosts[h].hi_tid, tids[i]));
	}
	GIVES(PvmNoHost, pvm_mstat("nowhere"));
	for (int i = 0; i < count; i++)
		OK(pvm_kill(tids[i]));
	ends(count);
}

static void output(char *self)
{
	int tids[MOST];

	pvm_catchout(stdout);
	spread(self, "print", tids);
	OK(pvm_exit());	/* returns when all output is there */
}

/* What is told, line by line, until a line comes from the test. */
static void watch(char *self)
{
	struct timeval often = { 0, 5000 };
	struct pollfd input = { 0, POLLIN, 0 };
	int tids[MOST], dtids[MOST], tid, bufid, tag;

	spread(self, "wait", tids);
	for (int i = 0; i < count; i++) {
		hear(tids[i], HELLO);
		dtids[i] = hosts[i].hi_tid;
		SAY("task %s %d", hosts[i].hi_name, tids[i]);
	}
	OK(pvm_notify(PvmTaskExit, EXITED, count, tids));
	OK(pvm_notify(PvmHostDelete, DELETED, count, dtids));
	OK(pvm_notify(PvmHostAdd, ADDED, -1, NULL));
	SAY("watching");
	while (poll(&input, 1, 0) == 0) {
		if ((bufid = pvm_trecv(-1, -1, &often)) == 0)
			continue;
		CHECK(bufid > 0);
		OK(pvm_bufinfo(bufid, NULL, &tag, NULL));
		if (tag == ADDED)
			OK(pvm_upkint(&tid, 1, 1));	/* how many */
		OK(pvm_upkint(&tid, 1, 1));
		SAY("%s %d", tag == EXITED ? "exited" : tag == DELETED ? "deleted" : tag == ADDED ? "added" : "ended",
		    tid);
	}
	for (int i = 0; i < count; i++)
		pvm_kill(tids[i]);
	SAY("over");
}

static void tell_own(const int *all, int many, int round, int number)
{
	int both[2] = { round, number };

	for (int i = 0; i < many; i++) {
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkint(both, 2, 1));
		OK(pvm_send(all[i], OWN));
	}
}

static void fan(char *self)
{
	int all[2 * MOST], length = 1 << 20;
	unsigned sum, got;

	for (int i = 0; i < count; i++) {
		char *args[] = { "fan-part", NULL };
		GIVES(2, pvm_spawn(self, args, PvmTaskHost, hosts[i].hi_name, 2, all + 2 * i));
	}
	OK(pvm_notify(PvmTaskExit, TAG_ENDED, 2 * count, all));
	for (int i = 0; i < length; i++)
		data[i] = (char)(i * 13);
	sum = sum_of(data, length);
	for (int round = 0; round < 5; round++) {
		tell_own(all, 2 * count, round, 1);
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkbyte(data, length, 1));
		OK(pvm_mcast(all, 2 * count, DATA));
		tell_own(all, 2 * count, round, 2);
		for (int i = 0; i < 2 * count; i++) {
			hear(all[i], HELLO);
			OK(pvm_upkuint(&got, 1, 1));
			GIVES(sum, got);
		}
	}
	ends(2 * count);
}

/* A short message of its own comes before and behind each that goes to all. */
static void hear_own(int round, int number)
{
	int bufid = pvm_recv(pvm_parent(), -1), bytes, tag, tid, got[2];

	CHECK(bufid > 0);
	OK(pvm_bufinfo(bufid, &bytes, &tag, &tid));
	GIVES(OWN, tag);
	OK(pvm_upkint(got, 2, 1));
	GIVES(round, got[0]);
	GIVES(number, got[1]);
}

static void fan_part(void)
{
	for (int round = 0; round < 5; round++) {
		int bytes, tag, tid, bufid;

		hear_own(round, 1);
		CHECK((bufid = pvm_recv(pvm_parent(), -1)) > 0);
		OK(pvm_bufinfo(bufid, &bytes, &tag, &tid));
		GIVES(DATA, tag);
		OK(pvm_upkbyte(data, 1 << 20, 1));
		hear_own(round, 2);
		unsigned sum = sum_of(data, 1 << 20);
		CHECK(pvm_initsend(PvmDataRaw) > 0);
		OK(pvm_pkuint(&sum, 1, 1));
		OK(pvm_send(pvm_parent(), HELLO));
	}
}

int main(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";
	int tids[MOST];

	pvm_setopt(PvmAutoErr, 0);
	data = calloc(1, 4194304 + 1);
	CHECK(pvm_mytid() > 0);
	if (strcmp(role, "hello") == 0) {
		say_hello();
	} else if (strcmp(role, "wait") == 0) {
		say_hello();
		pvm_recv(pvm_parent(), GO);
	} else if (strcmp(role, "leave") == 0) {
		OK(pvm_exit());
		for (;;)
			pause();
	} else if (strcmp(role, "print") == 0) {
		char name[256];
		gethostname(name, sizeof name);
		SAY("from %s", name);
		fprintf(stderr, "complaint of %s\n", name);
	} else if (strcmp(role, "ring-part") == 0) {
		ring_part();
	} else if (strcmp(role, "together-part") == 0) {
		together_part();
	} else if (strcmp(role, "flood-part") == 0) {
		flood_part();
	} else if (strcmp(role, "fan-part") == 0) {
		fan_part();
	} else {
		look();
		if (strcmp(role, "places") == 0) {
			places(argv[0]);
		} else if (strcmp(role, "ring") == 0) {
			spread(argv[0], "ring-part", tids);
			tell_all(tids);
			ends(count);
		} else if (strcmp(role, "flood") == 0) {
			CHECK(argc == 4);
			flood(argv[0], atoi(argv[2]), atoi(argv[3]));
		} else if (strcmp(role, "together") == 0) {
			spread(argv[0], "together-part", tids);
			tell_all(tids);
			ends(count);
		} else if (strcmp(role, "kill") == 0) {
			killing(argv[0]);
		} else if (strcmp(role, "tasks") == 0) {
			listing(argv[0]);
		} else if (strcmp(role, "output") == 0) {
			output(argv[0]);
			return 0;
		} else if (strcmp(role, "fan") == 0) {
			fan(argv[0]);
		} else {
			CHECK(strcmp(role, "watch") == 0);
			watch(argv[0]);
		}
	}
	OK(pvm_exit());
	SAY("done");
	return 0;
}
