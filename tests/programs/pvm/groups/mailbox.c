/* The mailbox: what may be put, read, replaced and deleted, by whom; PVM 3.3's numbers under names. */
#include "check.h"

enum { READY = 1, GO, WAITED };

static int put(char *name, int flags, int value)
{
	int before = pvm_setsbuf(pvm_mkbuf(PvmDataDefault)), index;

	OK(pvm_pkint(&value, 1, 1));
	index = pvm_putinfo(name, pvm_getsbuf(), flags);
	OK(pvm_freebuf(pvm_setsbuf(before)));
	return index;
}

static int get(char *name, int index, int flags)
{
	int value = 0, bufid = pvm_recvinfo(name, index, flags);

	if (bufid < 0)
		return bufid;
	GIVES(bufid, pvm_getrbuf());
	OK(pvm_upkint(&value, 1, 1));
	return value;
}

static void say(int tid, int tag)
{
	pvm_initsend(PvmDataDefault);
	OK(pvm_send(tid, tag));
}

/* Another owner: puts one of each kind, then ends. */
static void owner(void)
{
	GIVES(0, put("plain", PvmMboxDefault, 1));
	GIVES(0, put("open", PvmMboxOverWritable, 2));
	GIVES(0, put("kept", PvmMboxPersistent, 3));
	GIVES(0, put("kept open", PvmMboxPersistent | PvmMboxOverWritable, 4));
	say(pvm_parent(), READY);
	CHECK(pvm_recv(pvm_parent(), GO) > 0);
}

static void waiter(void)
{
	int from, value = get("late", 0, PvmMboxWaitForInfo);

	OK(pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &from));
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_pkint(&from, 1, 1));
	OK(pvm_send(pvm_parent(), WAITED));
}

static void several(void)
{
	for (int at = 0; at < 3; at++)
		GIVES(at, put("many", PvmMboxMultiInstance, 10 + at));
	GIVES(3, put("many", PvmMboxMultiInstance | PvmMboxDirectIndex(1), 13));
	GIVES(9, put("many", PvmMboxMultiInstance | PvmMboxDirectIndex(9), 19));
	GIVES(4, put("many", PvmMboxMultiInstance, 14));
	GIVES(0, put("many", PvmMboxDefault, 20)); /* the owner may replace its own */
	GIVES(20, get("many", 0, 0));
	GIVES(PvmNotFound, get("many", 5, 0));
	GIVES(19, get("many", 5, PvmMboxFirstAvail));
	GIVES(13, get("many", 3, PvmMboxReadAndDelete));
	GIVES(PvmNotFound, get("many", 3, 0));
	GIVES(3, put("many", PvmMboxMultiInstance, 23));

	int classes, owned = 0;
	struct pvmmboxinfo *info;
	OK(pvm_getmboxinfo("ma*", &classes, &info));
	GIVES(1, classes);
	CHECK(strcmp(info->mi_name, "many") == 0 && info->mi_nentries == 6);
	for (int i = 0; i < info->mi_nentries; i++)
		owned += info->mi_owners[i] == pvm_mytid();
	GIVES(6, owned);
	GIVES(9, info->mi_indices[5]);
	GIVES(PvmMboxMultiInstance | PvmMboxDirectIndex(9), info->mi_flags[5]);
	OK(pvm_getmboxinfo("no such", &classes, &info));
	GIVES(0, classes);
	for (int at = 0; at < 10; at++)
		GIVES(at < 5 || at == 9 ? at : PvmNotFound, pvm_delinfo("many", at, 0));
}

static void others(char *self)
{
	int tid, waiters[2], classes;
	struct pvmmboxinfo *info;

	copies(self, "owner", 1, &tid);
	CHECK(hear(tid, READY) > 0);
	GIVES(PvmDenied, put("plain", 0, 9));
	GIVES(PvmDenied, put("plain", PvmMboxOverWritable, 9));
	GIVES(PvmDenied, pvm_delinfo("plain", 0, 0));
	GIVES(PvmDenied, get("plain", 0, PvmMboxReadAndDelete));
	GIVES(1, get("plain", 0, 0));
	GIVES(0, put("open", PvmMboxDefault, 5)); /* and is ours now */
	GIVES(5, get("open", 0, 0));
	say(tid, GO);
	ends(1);
	GIVES(PvmNotFound, get("plain", 0, 0));
	GIVES(5, get("open", 0, 0));
	GIVES(3, get("kept", 0, 0));
	GIVES(PvmDenied, get("kept", 0, PvmMboxReadAndDelete)); /* nobody's, and not overwritable */
	GIVES(PvmDenied, pvm_delinfo("kept", 0, 0));
	OK(pvm_getmboxinfo("kept", &classes, &info));
	GIVES(0, info->mi_owners[0]);
	GIVES(4, get("kept open", 0, PvmMboxReadAndDelete));
	GIVES(PvmNotFound, get("kept open", 0, 0));

	copies(self, "waiter", 2, waiters);
	usleep(20000);
	GIVES(0, put("late", PvmMboxDefault, 77));
	for (int i = 0; i < 2; i++) {
		int said[2];
		hear(waiters[i], WAITED);
		OK(pvm_upkint(said, 2, 1));
		CHECK(said[0] == 77 && said[1] == pvm_mytid());
	}
	ends(2);
}

static void numbers(void)
{
	int value = -1;

	GIVES(0, pvm_insert("old", -1, 11));
	GIVES(1, pvm_insert("old", -1, 12));
	GIVES(PvmDenied, pvm_insert("old", 0, 13));
	GIVES(5, pvm_insert("old", 5, 14));
	GIVES(0, pvm_lookup("old", -1, &value));
	GIVES(11, value);
	GIVES(1, pvm_lookup("old", 1, &value));
	GIVES(12, value);
	GIVES(PvmNotFound, pvm_lookup("old", 2, &value));
	GIVES(1, pvm_delete("old", 1));
	GIVES(PvmNotFound, pvm_delete("old", 1));
	GIVES(0, pvm_delete("old", 0));
	GIVES(5, pvm_delete("old", 5));
}

/* A typed message keeps its types, and a long one its length. */
static void contents(void)
{
	static double long_one[20000], back[20000];
	char text[16];
	int number = 5, bufid;

	for (int i = 0; i < 20000; i++)
		long_one[i] = i;
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkdouble(long_one, 20000, 1));
	GIVES(0, pvm_putinfo("long", pvm_getsbuf(), PvmMboxDefault));
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(&number, 1, 1));
	OK(pvm_pkstr("text"));
	GIVES(0, pvm_putinfo("typed", pvm_getsbuf(), PvmMboxDefault));
	bufid = pvm_recvinfo("long", 0, 0);
	CHECK(bufid > 0);
	OK(pvm_upkdouble(back, 20000, 1));
	CHECK(memcmp(long_one, back, sizeof back) == 0);
	CHECK(pvm_recvinfo("typed", 0, 0) > 0);
	GIVES(PvmBadMsg, pvm_upkstr(text));
	OK(pvm_upkint(&number, 1, 1));
	OK(pvm_upkstr(text));
	CHECK(strcmp(text, "text") == 0);
	/* What was got can be put again, and sent on. */
	GIVES(0, pvm_putinfo("again", pvm_getrbuf(), PvmMboxDefault));
	CHECK(pvm_recvinfo("again", 0, PvmMboxReadAndDelete) > 0);
	pvm_setsbuf(pvm_getrbuf());
	OK(pvm_send(pvm_mytid(), 5));
	CHECK(pvm_recv(pvm_mytid(), 5) > 0);
	OK(pvm_upkint(&number, 1, 1));
	GIVES(5, number);
	OK(pvm_delinfo("long", 0, 0));
	OK(pvm_delinfo("typed", 0, 0));
}

int main(int argc, char **argv)
{
	pvm_setopt(PvmAutoErr, 0);
	if (argc > 1 && strcmp(argv[1], "owner") == 0)
		owner();
	else if (argc > 1)
		waiter();
	else {
		several();
		others(argv[0]);
		numbers();
		contents();
		/* A persistent entry that is not overwritable lasts as long as the machine. */
		pvm_initsend(PvmDataDefault);
		GIVES(PvmDenied, pvm_putinfo("kept", pvm_getsbuf(), PvmMboxDefault));
	}
	OK(pvm_exit());
	return 0;
}
