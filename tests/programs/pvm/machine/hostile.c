/* Calls every function of pvm3.h with arguments that make no sense, in random combinations.
 *
 *     hostile SEED ROUNDS
 *
 * No call may crash or wait for ever, and a negative result is one of PVM's codes. Pointers are null or good: what a
 * program says of its own memory must be believed. Calls that rightly wait are given something to find. */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>

#define PVM33COMPAT 1 /* pvm_getmwid and pvm_setmwid */
#include "check.h"

#define WAIT_FLAG PvmMboxWaitForInfo
#define OWN "hostile"

static uint64_t state;
static const char *current = "start";
static int me;
/* Items are read and written around the middle. */
static char arena[1 << 16];
static char *const middle = arena + sizeof arena / 2;
static char longest[5000];

static unsigned pick(unsigned many)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % many;
}

#define ONE_OF(...)                                                                        \
	(((const int[]){ __VA_ARGS__ })[pick(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int))])

/* No task has one of these. */
static int tid(void)
{
	return ONE_OF(0, -1, -2, 1, 5, 0x40000, 0x40fff, 0x7c0000, 0x40000001, 0x80000, INT_MAX, INT_MIN);
}

static int tid_or_me(void) { return pick(3) ? tid() : me; }

/* Nothing is ever waited for from one of these. */
static int nobody(void) { return ONE_OF(0, -2, 0x40000001, 0x40fff); }

static int tag(void) { return ONE_OF(0, 1, 77, -1, -2, INT_MAX, INT_MIN); }

static int code(void) { return ONE_OF(0, 1, 2, 3, 5, 11, 99, -1, 0x8000, INT_MAX, INT_MIN); }

static int buf(void)
{
	switch (pick(4)) {
	case 0: return pvm_getsbuf();
	case 1: return pvm_getrbuf();
	default: return ONE_OF(0, -1, 1, 2, 999, INT_MAX, INT_MIN);
	}
}

static char *name(void)
{
	static char *const names[] = { NULL, "", "x", OWN, "\xff\xfe", "a b\n", "%s%n%s", "*", longest };
	return names[pick(sizeof names / sizeof *names)];
}

/* A name that is no group of ours: who is not in a group never waits there. */
static char *foreign(void)
{
	char *found = name();
	return found && strcmp(found, OWN) == 0 ? NULL : found;
}

static void *maybe(void *pointer) { return pick(3) ? pointer : NULL; }

/* An array: where it is, how many, and how far apart; null with anything, else inside the arena. */
static void *data;
static int count, stride;
static void array(void)
{
	data = maybe(middle);
	count = data ? ONE_OF(0, 1, 2, 7, 100, -1, INT_MIN) : ONE_OF(0, 1, -1, 1000, INT_MAX, INT_MIN);
	stride = data && count > 1 ? ONE_OF(1, 2, 0, -1, -3) : ONE_OF(0, 1, -1, INT_MAX, INT_MIN);
}

static int match(int bufid, int from, int label) { return bufid != 0 && from != 0 && label == 77; }

static int handler(int bufid) { return bufid; }

static int result(int given)
{
	/* What failed has left its code; other negative values are answers: options, contexts. */
	int is_code = given >= -36 && given <= -2 && given != -9 && given != -11 && given != -13;

	if (given < 0 && given == pvm_errno && !is_code) {
		fprintf(stderr, "%s gives %d\n", current, given);
		_exit(1);
	}
	return given;
}

/* One function after another; which comes next is chance. */
#define CALL(function, ...)                                                                \
	if (which == n++) {                                                                \
		current = #function;                                                       \
		result(function(__VA_ARGS__));                                             \
		return 1;                                                                  \
	}
#define ARRAY_CALL(function, type)                                                         \
	if (which == n++) {                                                                \
		current = #function;                                                       \
		array();                                                                   \
		result(function((type *)data, count, stride));                             \
		return 1;                                                                  \
	}
#define BOTH(kind, type)                                                                   \
	ARRAY_CALL(pvm_pk##kind, type)                                                     \
	ARRAY_CALL(pvm_upk##kind, type)

static struct timeval soon = { 0, 100 };
static struct timeval odd = { -5, INT_MAX };

/* Calls function number `which`; 0 when there are not so many. */
static int call(int which)
{
	static struct pvmhostinfo *hosts;
	static struct pvmtaskinfo *tasks;
	static struct pvmmboxinfo *classes;
	static struct pvmminfo info;
	static struct timeval clock;
	static int *list, a, b, c;
	char *none[] = { "", NULL };
	int *tids = (int *)middle;
	int n = 0;

	tids[0] = tid_or_me();
	tids[1] = tid();
	BOTH(byte, char)
	BOTH(short, short)
	BOTH(ushort, unsigned short)
	BOTH(int, int)
	BOTH(uint, unsigned int)
	BOTH(long, long)
	BOTH(ulong, unsigned long)
	BOTH(float, float)
	BOTH(double, double)
	BOTH(cplx, float)
	BOTH(dcplx, double)
	CALL(pvm_pkstr, name())
	CALL(pvm_upkstr, maybe(middle))
	CALL(pvm_packf, "%+ %d %*s", code(), 1, 1, longest)
	CALL(pvm_packf, "%2.3d%", middle)
	CALL(pvm_packf, pick(2) ? NULL : "%z %hd", 5)
	CALL(pvm_packf, "%*.*d", ONE_OF(0, -1, 3, INT_MIN), ONE_OF(1, -1, 0), middle)
	CALL(pvm_unpackf, pick(2) ? NULL : "%*.*d", ONE_OF(0, -1, 3, INT_MIN), ONE_OF(1, -1, 0), maybe(middle))
	CALL(pvm_unpackf, pick(2) ? "%" : "%s %q %lf", maybe(middle), maybe(middle), maybe(middle))
	CALL(pvm_pkmesg, buf())
	CALL(pvm_pkmesgbody, buf())
	CALL(pvm_upkmesg)
	CALL(pvm_initsend, code())
	CALL(pvm_initsend, ONE_OF(0, 1, 2))
	CALL(pvm_mkbuf, code())
	CALL(pvm_freebuf, buf())
	CALL(pvm_getsbuf)
	CALL(pvm_getrbuf)
	CALL(pvm_setsbuf, buf())
	CALL(pvm_setrbuf, buf())
	CALL(pvm_bufinfo, buf(), maybe(&a), maybe(&b), maybe(&c))
	CALL(pvm_getminfo, buf(), maybe(&info))
	CALL(pvm_setminfo, buf(), maybe(&info))
	CALL(pvm_getmwid, buf())
	CALL(pvm_setmwid, buf(), code())
	CALL(pvm_send, tid_or_me(), tag())
	CALL(pvm_mcast, maybe(tids), ONE_OF(0, -1, INT_MIN), tag())
	CALL(pvm_mcast, tids, ONE_OF(1, 2), tag())
	CALL(pvm_psend, tid_or_me(), tag(), maybe(middle), ONE_OF(0, 1, 9, -1, INT_MIN), code())
	CALL(pvm_recv, nobody(), tag())
	CALL(pvm_nrecv, tid_or_me(), tag())
	CALL(pvm_probe, tid_or_me(), tag())
	CALL(pvm_trecv, tid_or_me(), tag(), pick(2) ? &soon : &odd)
	CALL(pvm_trecv, nobody(), tag(), NULL)
	CALL(pvm_precv, nobody(), tag(), maybe(middle), ONE_OF(0, 1, 9, -1, INT_MIN), code(), maybe(&a), maybe(&b),
	     maybe(&c))
	CALL(pvm_joingroup, pick(2) ? OWN : pick(2) ? NULL : "")
	CALL(pvm_lvgroup, name())
	CALL(pvm_getinst, name(), tid_or_me())
	CALL(pvm_gettid, name(), code())
	CALL(pvm_gsize, name())
	CALL(pvm_barrier, foreign(), code())
	CALL(pvm_barrier, OWN, ONE_OF(0, -2, 1, -1, INT_MIN))
	CALL(pvm_freezegroup, foreign(), code())
	CALL(pvm_bcast, name(), tag())
	CALL(pvm_reduce, pick(2) ? PvmSum : NULL, maybe(middle), ONE_OF(0, 1, 9, -1, INT_MIN), code(), tag(), name(),
	     code())
	CALL(pvm_gather, maybe(middle), maybe(arena), ONE_OF(0, 1, 9, -1, INT_MIN), code(), tag(), name(), code())
	CALL(pvm_scatter, maybe(middle), maybe(arena), ONE_OF(0, 1, 9, -1, INT_MIN), code(), tag(), name(), code())
	CALL(pvm_mytid)
	CALL(pvm_parent)
	CALL(pvm_tidtohost, tid())
	CALL(pvm_pstat, tid())
	CALL(pvm_mstat, name())
	CALL(pvm_kill, tid())
	CALL(pvm_sendsig, tid(), code())
	CALL(pvm_tasks, tid(), maybe(&a), maybe(&tasks))
	CALL(pvm_config, maybe(&a), maybe(&b), maybe(&hosts))
	CALL(pvm_siblings, maybe(&list))
	CALL(pvm_getfds, maybe(&list))
	CALL(pvm_spawn, name(), NULL, code(), name(), ONE_OF(0, 1, -1, INT_MIN, 3), maybe(tids))
	CALL(pvm_addhosts, maybe(none), ONE_OF(0, -1, INT_MIN), maybe(tids))
	CALL(pvm_delhosts, maybe(none), ONE_OF(0, 1, -1, INT_MIN), maybe(tids))
	CALL(pvm_hostsync, tid(), maybe(&clock), maybe(&clock))
	CALL(pvm_notify, code(), tag(), ONE_OF(0, 1, 2, -1, INT_MIN), maybe(tids))
	CALL(pvm_start_pvmd, ONE_OF(0, -1, 1), NULL, code())
	CALL(pvm_archcode, name())
	CALL(pvm_getopt, code())
	CALL(pvm_getcontext)
	CALL(pvm_setcontext, code())
	CALL(pvm_newcontext)
	CALL(pvm_freecontext, code())
	CALL(pvm_putinfo, name(), buf(), code())
	CALL(pvm_recvinfo, name(), code(), code() & ~WAIT_FLAG)
	CALL(pvm_delinfo, name(), code(), code())
	CALL(pvm_getmboxinfo, name(), maybe(&a), maybe(&classes))
	CALL(pvm_insert, name(), code(), code())
	CALL(pvm_lookup, name(), code(), maybe(&a))
	CALL(pvm_delete, name(), code())
	CALL(pvm_getnoresets, maybe(&list), maybe(&a))
	CALL(pvm_addmhf, tid(), tag(), code(), maybe((void *)(uintptr_t)handler))
	CALL(pvm_delmhf, code())
	CALL(pvm_catchout, NULL)
	CALL(pvm_perror, name())
	CALL(pvm_tickle, code(), maybe(tids), maybe(&a), maybe(tids))
	CALL(pvm_export, name())
	CALL(pvm_unexport, name())
	CALL(pvm_exit)
	if (which == n++) {
		int what = code(), before = pvm_getopt(what);

		/* Failures that end the program are not what is tried here. */
		current = "pvm_setopt";
		result(pvm_setopt(what, code()));
		pvm_setopt(what, before);
		return 1;
	}
	if (which == n++) {
		void (*const combine[])(int *, void *, void *, int *, int *) = { PvmMin, PvmMax, PvmSum, PvmProduct };

		current = "PvmMin PvmMax PvmSum PvmProduct";
		a = code();
		b = ONE_OF(0, 1, 9, -1, INT_MIN);
		combine[pick(4)](maybe(&a), maybe(middle), maybe(arena), maybe(&b), maybe(&c));
		return 1;
	}
	if (which == n++) {
		char *group = foreign();

		/* Not to stay in it: others would rightly be waited for there. */
		current = "pvm_joingroup";
		if (result(pvm_joingroup(group)) >= 0)
			OK(pvm_lvgroup(group));
		return 1;
	}
	if (which == n++) {
		int (*before)(int, int, int);

		current = "pvm_recvf";
		before = pvm_recvf(pick(2) ? match : NULL);
		pvm_nrecv(-1, -1);
		pvm_recvf(before);
		return 1;
	}
	if (which == n++) {
		current = "pvm_version pvm_strerror";
		CHECK(pvm_version() && pvm_strerror());
		return 1;
	}
	return 0;
}

static uint64_t seed;

static void too_long(int signal)
{
	(void)signal;
	fprintf(stderr, "%s does not return; seed %llu\n", current, (unsigned long long)seed);
	_exit(1);
}

static void crashed(int signal)
{
	fprintf(stderr, "%s crashes with signal %d; seed %llu\n", current, signal, (unsigned long long)seed);
	_exit(1);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 20, functions = 0, round, i;

	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	state = seed * 0x9e3779b97f4a7c15u + 1;
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	memset(longest, 'n', sizeof longest - 1);
	signal(SIGALRM, too_long);
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGABRT, crashed);
	/* What pvm_perror and the reports say is of no interest; what fails is said on standard error at the end. */
	/* Each of them once, and then by chance. */
	do {
		me = pvm_mytid();
		CHECK(me > 0);
		pvm_setopt(PvmAutoErr, 0);
		alarm(20);
	} while (call(functions) && ++functions);
	for (round = 0; round < rounds; round++) {
		me = pvm_mytid();
		CHECK(me > 0);
		pvm_setopt(PvmAutoErr, 0);
		pvm_setcontext(0);
		/* Something is in both buffers at the start of each round. */
		pvm_setsbuf(0);
		CHECK(pvm_initsend(ONE_OF(0, 1, 2)) > 0);
		OK(pvm_pkint((int *)middle, 2, 1));
		OK(pvm_pkstr("text"));
		OK(pvm_send(me, 77));
		pvm_nrecv(me, 77);
		alarm(20);
		for (i = 0; i < 50; i++)
			call((int)pick((unsigned)functions));
		while (pvm_nrecv(-1, -1) > 0)
			pvm_freebuf(pvm_getrbuf());
		for (i = 0; i < 30; i++)
			pvm_delmhf(i);
	}
	alarm(0);
	pvm_exit();
	printf("%d functions\n", functions);
	return 0;
}
