/* Tracing: events that describe themselves, in a buffer or not, and sums; by a parent and by a tracer. */
#include "check.h"

#define TRACE 777
#define EVENTS 109
enum { MYTID = 26, INITSEND = 17, SEND = 47, TIMING = 106, PROFILING = 107, NEWTASK = 75, ENDTASK = 76 };
enum { FULL = PvmTraceFull, TIMES = PvmTraceTime, COUNTS = PvmTraceCount };

int pvm_settmask(int who, char *mask);
int pvm_gettmask(int who, char *mask);
extern struct { char *name; int described; struct timeval mark, total; int count; } pvmtevinfo[];

static char mask[36];
static int described[2][EVENTS], recorded[2][EVENTS], began, ended;

static void clear(void)
{
	memset(mask, '@', 35);
	memset(described, 0, sizeof described);
	memset(recorded, 0, sizeof recorded);
	began = ended = 0;
}

static void set(int kind)
{
	mask[kind / 4] |= (char)(1 << kind % 4);
}

static int take(void)
{
	int value;

	OK(pvm_upkint(&value, 1, 1));
	return value;
}

/* One event that describes itself, after its mark; gives its kind. */
static int description(void)
{
	char name[64], text[256];
	int number = take(), kind = number & 0xfff, what, type;

	CHECK(kind < EVENTS);
	OK(pvm_upkstr(name));
	CHECK(strcmp(name, pvmtevinfo[kind].name) == 0);
	described[number & 0x8000 ? 1 : 0][kind]++;
	began += kind == NEWTASK;
	ended += kind == ENDTASK;
	while ((what = take()) != -6) {
		int count = 1;
		CHECK(what >= 0 && what <= 122);
		type = take();
		if (type & 0x80)
			count = take();
		for (; count > 0; count--)
			if ((type & 0x7f) == 12)
				OK(pvm_upkstr(text));
			else
				take();
	}
	return kind;
}

/* Takes one message of events apart; gives the kind of the last. */
static int message(int bufid)
{
	int kind = -1, bytes, begun, number;

	OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
	begun = take();
	if (begun == -3) { /* what data is called */
		char text[256];
		while (take() != -4) {
			OK(pvm_upkstr(text));
			OK(pvm_upkstr(text));
		}
		return -1;
	}
	if (begun == -1) { /* a buffer of events */
		while ((begun = take()) != -2) {
			CHECK(begun == -5 || begun == -7);
			if (begun == -5)
				kind = description();
			else
				for (kind = take() & 0xfff; (number = take()) != -8;)
					;
		}
		return kind;
	}
	if (begun == -5)
		return description();
	GIVES(-7, begun);
	number = take();
	kind = number & 0xfff;
	recorded[number & 0x8000 ? 1 : 0][kind]++;
	while (take() != -8)
		;
	return kind;
}

/* The events of one child, until it has ended and the wanted one has come: what it says itself may
 * come after the daemon's word of its end. */
static void listen_for(int wanted)
{
	int seen = 0;

	while (!ended || !seen) {
		CHECK(pvm_recv(-1, TRACE) > 0);
		seen |= message(pvm_getrbuf()) == wanted;
	}
}

static void child(void)
{
	for (int i = 0; i < 3; i++) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_send(pvm_parent(), 5));
	}
}

int main(int argc, char **argv)
{
	char *args[] = { "child", NULL }, seen[36];
	int me = pvm_mytid(), tid;

	if (argc > 1) {
		child();
		OK(pvm_exit());
		return 0;
	}
	pvm_setopt(PvmAutoErr, 0);
	GIVES(PvmBadParam, pvm_settmask(2, mask));
	GIVES(PvmBadParam, pvm_settmask(PvmTaskSelf, NULL));
	GIVES(PvmBadParam, pvm_gettmask(PvmTaskSelf, NULL));
	GIVES(PvmBadParam, pvm_setopt(PvmTraceTid, me + 1));
	clear();
	set(INITSEND);
	set(SEND);
	OK(pvm_settmask(PvmTaskChild, mask));
	OK(pvm_gettmask(PvmTaskChild, seen));
	CHECK(strcmp(mask, seen) == 0);
	OK(pvm_gettmask(PvmTaskSelf, seen));
	CHECK(strspn(seen, "@") == 35);
	GIVES(0, pvm_setopt(PvmTraceTid, me));
	GIVES(0, pvm_setopt(PvmTraceCode, TRACE));

	GIVES(0, pvm_setopt(PvmTraceOptions, FULL));
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, 1, &tid));
	listen_for(ENDTASK);
	while (recorded[1][SEND] < 2)
		message(pvm_recv(-1, TRACE));
	for (int side = 0; side < 2; side++) {
		CHECK(described[side][SEND] == 1 && described[side][INITSEND] == 1);
		CHECK(recorded[side][SEND] == 2 && recorded[side][INITSEND] == 2);
		CHECK(described[side][MYTID] == 0);
	}
	CHECK(began == 1 && ended == 1);

	clear();
	GIVES(0, pvm_setopt(PvmTraceBuffer, 100000));
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, 1, &tid));
	listen_for(SEND);
	CHECK(described[0][SEND] == 1 && recorded[0][SEND] == 0);

	clear();
	GIVES(100000, pvm_setopt(PvmTraceBuffer, 0));
	GIVES(FULL, pvm_setopt(PvmTraceOptions, TIMES));
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, 1, &tid));
	listen_for(TIMING);
	clear();
	GIVES(TIMES, pvm_setopt(PvmTraceOptions, COUNTS));
	GIVES(1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, 1, &tid));
	listen_for(PROFILING);
	CHECK(described[0][SEND] == 0);
	OK(pvm_exit());
	return 0;
}
