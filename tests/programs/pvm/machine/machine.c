/* The machine as a program sees it: hosts, contexts, siblings, fixed groups, messages in messages. */
#include "check.h"

enum { SAID = 1, GO };

static int me;

static void hosts(void)
{
	int count, archs, host = pvm_tidtohost(me), infos[3];
	struct pvmhostinfo *table;
	struct timeval clock, ahead;
	char name[256], arch[64];

	OK(pvm_config(&count, &archs, &table));
	CHECK(count == 1 && archs == 1 && table->hi_tid == host);
	snprintf(name, sizeof name, "%s", table->hi_name);
	snprintf(arch, sizeof arch, "%s", table->hi_arch);
	GIVES(table->hi_dsig, pvm_archcode(arch));
	GIVES(PvmNotFound, pvm_archcode("PDP11"));
	OK(pvm_mstat(name));
	GIVES(PvmNoHost, pvm_mstat("nowhere.invalid"));
	GIVES(PvmBadParam, pvm_mstat(""));
	OK(pvm_pstat(me));
	GIVES(PvmNoTask, pvm_pstat(me + 1000));
	GIVES(PvmBadParam, pvm_pstat(host));
	char *wanted[] = { name, "nowhere.invalid" };
	GIVES(0, pvm_addhosts(wanted, 2, infos));
	/* Without ssh on this host nobody can say that there is no such host. */
	CHECK(infos[0] == PvmDupHost && (infos[1] == PvmNoHost || infos[1] == PvmCantStart));
	GIVES(0, pvm_delhosts(wanted, 2, infos));
	CHECK(infos[0] == PvmBadParam && infos[1] == PvmNoHost);
	GIVES(PvmBadParam, pvm_addhosts(wanted, 0, infos));
	OK(pvm_hostsync(host, &clock, &ahead));
	CHECK(clock.tv_sec > 1000000000 && ahead.tv_usec >= 0 && ahead.tv_usec < 1000000);
	CHECK(ahead.tv_sec == 0 || ahead.tv_sec == -1); /* one clock: no more apart than the question took */
	GIVES(PvmNoHost, pvm_hostsync(2 << 18, &clock, &ahead));
	GIVES(PvmDupHost, pvm_start_pvmd(0, NULL, 0));
}

static void contexts(void)
{
	int one = pvm_newcontext(), two = pvm_newcontext();

	CHECK(one > 0 && two > 0 && one != two);
	GIVES(0, pvm_setcontext(one));
	pvm_initsend(PvmDataDefault);
	OK(pvm_send(me, 5));
	GIVES(one, pvm_setcontext(two));
	GIVES(0, pvm_nrecv(-1, -1));
	GIVES(two, pvm_setcontext(one));
	CHECK(pvm_nrecv(-1, -1) > 0);
	GIVES(one, pvm_setcontext(0));
	OK(pvm_freecontext(one));
	GIVES(PvmNotFound, pvm_freecontext(one));
	GIVES(PvmNotFound, pvm_freecontext(0));
	OK(pvm_freecontext(two));
}

static void messages(void)
{
	struct pvmminfo info;
	int numbers[3] = { 1, 2, 3 }, inner, length, tag, from, back[3] = { 0 };
	char bytes[5] = "abcd";

	inner = pvm_initsend(PvmDataDefault);
	OK(pvm_pkint(numbers, 3, 1));
	OK(pvm_getminfo(inner, &info));
	CHECK(info.len == 12 && info.enc == 0x10000000 && info.src == me && info.dst == 0);
	info.tag = 99, info.wid = 123, info.ctx = 4, info.src = 5;
	OK(pvm_setminfo(inner, &info));
	OK(pvm_bufinfo(inner, &length, &tag, &from));
	CHECK(length == 12 && tag == 99 && from == 5);
	/* A message in a message, whatever the encoding of the outer one. */
	for (int encoding = PvmDataDefault; encoding <= PvmDataRaw; encoding++) {
		int outer = pvm_mkbuf(encoding);
		pvm_setsbuf(outer);
		OK(pvm_pkmesg(inner));
		OK(pvm_pkbyte(bytes, 5, 1));
		OK(pvm_send(me, 60));
		CHECK(pvm_recv(me, 60) > 0);
		OK(pvm_getminfo(pvm_getrbuf(), &info));
		CHECK(info.src == me && info.dst == me && info.tag == 60);
		CHECK(info.enc == (encoding == PvmDataDefault ? 0x10000000 : pvm_archcode("LINUX64")));
		int got = pvm_upkmesg(), around = pvm_getrbuf();
		CHECK(got > 0 && got != around);
		memset(bytes, 0, sizeof bytes);
		OK(pvm_upkbyte(bytes, 5, 1));
		CHECK(strcmp(bytes, "abcd") == 0);
		OK(pvm_getminfo(got, &info));
		CHECK(info.tag == 99 && info.wid == 123 && info.ctx == 4 && info.src == 5 && info.len == 12);
		GIVES(around, pvm_setrbuf(got));
		OK(pvm_upkint(back, 3, 1));
		CHECK(memcmp(back, numbers, sizeof back) == 0);
		OK(pvm_freebuf(pvm_setrbuf(around)));
		OK(pvm_freebuf(pvm_setsbuf(0)));
	}
	/* Only what a message holds. */
	pvm_setsbuf(pvm_mkbuf(PvmDataRaw));
	GIVES(PvmMismatch, pvm_pkmesgbody(inner));
	OK(pvm_freebuf(pvm_setsbuf(pvm_mkbuf(PvmDataDefault))));
	OK(pvm_pkmesgbody(inner));
	OK(pvm_pkmesgbody(inner));
	OK(pvm_send(me, 61));
	CHECK(pvm_recv(me, 61) > 0);
	OK(pvm_upkint(back, 3, 1));
	OK(pvm_upkint(back, 3, 1));
	CHECK(memcmp(back, numbers, sizeof back) == 0);
	GIVES(PvmNoSuchBuf, pvm_pkmesg(99999));
	GIVES(PvmNoSuchBuf, pvm_pkmesgbody(99999));
	GIVES(PvmNoData, pvm_upkmesg());
	OK(pvm_freebuf(pvm_setsbuf(0)));
	OK(pvm_freebuf(inner));
}

/* Children tell what they know: siblings, and the group whose members they fix. */
static void child(void)
{
	int *tids, count = pvm_siblings(&tids), seen[6], group = 0;

	seen[group++] = count;
	seen[group++] = tids[0];
	seen[group++] = tids[2];
	CHECK(pvm_joingroup("fixed") >= 0);
	CHECK(pvm_barrier("fixed", 3) >= 0);
	seen[group++] = pvm_freezegroup("fixed", 3);
	seen[group++] = pvm_gsize("fixed");
	seen[group++] = pvm_gettid("fixed", pvm_getinst("fixed", pvm_mytid()));
	pvm_initsend(PvmDataDefault);
	OK(pvm_pkint(seen, 6, 1));
	OK(pvm_send(pvm_parent(), SAID));
	CHECK(pvm_recv(pvm_parent(), GO) > 0);
	OK(pvm_barrier("fixed", 3));
	OK(pvm_lvgroup("fixed"));
}

static void families(char *self)
{
	int tids[3], *alone, seen[6];

	GIVES(1, pvm_siblings(&alone));
	GIVES(me, alone[0]);
	copies(self, "child", 3, tids);
	for (int at = 0; at < 3; at++) {
		hear(tids[at], SAID);
		OK(pvm_upkint(seen, 6, 1));
		CHECK(seen[0] == 3 && seen[1] == tids[0] && seen[2] == tids[2]);
		CHECK(seen[3] == 3 && seen[4] == 3 && seen[5] == tids[at]);
	}
	GIVES(3, pvm_gsize("fixed"));
	GIVES(PvmNotInGroup, pvm_joingroup("fixed"));
	GIVES(PvmNotInGroup, pvm_lvgroup("fixed"));
	GIVES(PvmDupGroup, pvm_freezegroup("fixed", 3));
	GIVES(PvmNoGroup, pvm_freezegroup("no such", 1));
	GIVES(PvmNullGroup, pvm_freezegroup("", 1));
	pvm_initsend(PvmDataDefault);
	OK(pvm_mcast(tids, 3, GO));
	ends(3);
	GIVES(PvmNoGroup, pvm_gsize("fixed"));
}

static void settings(void)
{
	int *spared, count;

	GIVES(PvmBadParam, pvm_getopt(PvmPollType));
	GIVES(PvmNotImpl, pvm_setopt(PvmPollType, PvmPollConstant));
	GIVES(PvmBadParam, pvm_setopt(PvmTraceOptions, 9));
	GIVES(PvmBadParam, pvm_setopt(PvmOutputTid, -1));
	GIVES(4080, pvm_setopt(PvmFragSize, 100));
	GIVES(PvmBadParam, pvm_setopt(PvmFragSize, 2000000));
	GIVES(0, pvm_setopt(PvmNoReset, 1));
	OK(pvm_getnoresets(&spared, &count));
	CHECK(count == 1 && spared[0] == me);
	GIVES(1, pvm_setopt(PvmNoReset, 0));
	OK(pvm_getnoresets(&spared, &count));
	GIVES(0, count);
	/* Reserved tags are for those who ask. */
	pvm_initsend(PvmDataDefault);
	GIVES(PvmBadParam, pvm_send(me, -5));
	GIVES(0, pvm_setopt(PvmResvTids, 1));
	OK(pvm_send(me, -5));
	CHECK(pvm_nrecv(me, -5) > 0);
	GIVES(1, pvm_setopt(PvmResvTids, 0));
	unsetenv("PVM_EXPORT");
	OK(pvm_export("ONE"));
	OK(pvm_export("TWO"));
	OK(pvm_export("ONE"));
	CHECK(strcmp(getenv("PVM_EXPORT"), "ONE:TWO") == 0);
	OK(pvm_unexport("ONE"));
	CHECK(strcmp(getenv("PVM_EXPORT"), "TWO") == 0);
	OK(pvm_unexport("TWO"));
	GIVES(PvmBadParam, pvm_export(NULL));
}

int main(int argc, char **argv)
{
	me = pvm_mytid();
	if (argc > 1)
		child();
	else {
		pvm_setopt(PvmAutoErr, 0);
		hosts();
		contexts();
		messages();
		families(argv[0]);
		settings();
	}
	OK(pvm_exit());
	return 0;
}
