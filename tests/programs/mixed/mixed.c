/*
 * One program, two interfaces: both are the same task, with the same messages.
 * The program has functions of its own whose names others might want.
 */
#include "check.h"

#include <dlfcn.h>

enum { WORD = 1 };

/* Names of other interfaces, of the engine's table, and one that begins like PVM's. */
int csend(void);
int crecv(void);
int pvm_something(void);
int parvum_table(void);
int enrol(void);
int csend(void) { CHECK(!"the program's own csend"); return 0; }
int crecv(void) { CHECK(!"the program's own crecv"); return 0; }
int pvm_something(void) { CHECK(!"the program's own pvm_something"); return 0; }
int parvum_table(void) { CHECK(!"the program's own parvum_table"); return 0; }
int enrol(void) { CHECK(!"the program's own enrol"); return 0; }

static int (*begin)(void), (*other_send)(int, int, const void *, int), (*other_receive)(int, int, void *, int);

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);
	CHECK(found != NULL);
	return found;
}

/* To `to` by one interface, from it by the other, and the other way round. */
static void both_ways(int to, int large)
{
	static char data[1000000], got[1000000];
	int length = large ? (int)sizeof data : 40, bytes;

	memset(data, 'd', sizeof data);
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkbyte(data, length, 1));
	OK(pvm_send(to, WORD));
	GIVES(length, other_receive(to, WORD, got, sizeof got));
	CHECK(memcmp(data, got, (size_t)length) == 0);
	memset(got, 0, sizeof got);
	OK(other_send(to, WORD, data, length));
	int bufid = pvm_recv(to, WORD);
	CHECK(bufid > 0);
	OK(pvm_bufinfo(bufid, &bytes, NULL, NULL));
	GIVES(length, bytes);
	OK(pvm_upkbyte(got, length, 1));
	CHECK(memcmp(data, got, (size_t)length) == 0);
}

int main(int argc, char **argv)
{
	int partner = 0, me = 0;

	CHECK(argc > 1);
	if (argc == 2)	/* PVM first; the copy begins with the other one */
		me = pvm_mytid();
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	CHECK(library != NULL);
	*(void **)&begin = symbol(library, "second_begin");
	*(void **)&other_send = symbol(library, "csend");
	*(void **)&other_receive = symbol(library, "crecv");
	int other = begin();
	CHECK(other > 0);
	if (argc == 2)
		GIVES(me, other);
	GIVES(other, pvm_mytid());
	me = other;
	both_ways(me, 0);
	both_ways(me, 1);
	if (argc == 2) {
		char *args[] = { argv[1], "copy", NULL };
		GIVES(1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, 1, &partner));
		OK(pvm_notify(PvmTaskExit, TAG_ENDED, 1, &partner));
	} else {
		partner = pvm_parent();
		CHECK(partner > 0);
	}
	both_ways(partner, 0);
	both_ways(partner, 1);
	if (argc == 2)
		ends(1);
	OK(pvm_exit());
	return 0;
}
