/* Message buffers: their ids, which one is active, and what unpacking refuses. */
#include "check.h"

static void ids(int self)
{
	int bytes, tag, tid, value = 5, got = 0;

	GIVES(0, pvm_getsbuf());
	GIVES(0, pvm_getrbuf());
	GIVES(PvmNoBuf, pvm_pkint(&value, 1, 1));
	GIVES(PvmNoBuf, pvm_upkint(&value, 1, 1));
	GIVES(PvmNoBuf, pvm_send(self, 1));
	GIVES(PvmBadParam, pvm_mkbuf(3));
	GIVES(PvmBadParam, pvm_initsend(-1));

	int first = pvm_initsend(PvmDataDefault);
	CHECK(first > 0);
	GIVES(first, pvm_getsbuf());
	OK(pvm_pkint(&value, 1, 1));
	int second = pvm_mkbuf(PvmDataRaw);
	CHECK(second > 0 && second != first);
	GIVES(first, pvm_getsbuf());
	GIVES(first, pvm_setsbuf(second));
	GIVES(second, pvm_getsbuf());
	value = 6;
	OK(pvm_pkint(&value, 1, 1));
	OK(pvm_send(self, 2));
	GIVES(second, pvm_setsbuf(first));
	OK(pvm_send(self, 1));
	OK(pvm_bufinfo(first, &bytes, &tag, &tid));
	GIVES(4, bytes);

	/* Two received messages, unpacked in turns. */
	int one = pvm_recv(self, 1);
	CHECK(one > 0);
	GIVES(one, pvm_setrbuf(0));
	int two = pvm_recv(self, 2);
	CHECK(two > 0 && two != one);
	GIVES(two, pvm_getrbuf());
	OK(pvm_upkint(&got, 1, 1));
	GIVES(6, got);
	GIVES(two, pvm_setrbuf(one));
	OK(pvm_upkint(&got, 1, 1));
	GIVES(5, got);
	OK(pvm_bufinfo(two, &bytes, NULL, &tid));
	GIVES(4, bytes);
	GIVES(self, tid);

	/* The next receive frees the active buffer, and no other. */
	OK(pvm_send(self, 3));
	CHECK(pvm_recv(self, 3) > 0);
	OK(pvm_bufinfo(two, &bytes, NULL, NULL));
	OK(pvm_freebuf(two));
	GIVES(PvmNoSuchBuf, pvm_freebuf(two));
	GIVES(PvmNoSuchBuf, pvm_bufinfo(two, &bytes, NULL, NULL));
	GIVES(PvmBadParam, pvm_freebuf(-1));
	GIVES(PvmNoSuchBuf, pvm_setsbuf(999));
	GIVES(PvmNoSuchBuf, pvm_setrbuf(first));
	OK(pvm_freebuf(pvm_getrbuf()));
	GIVES(0, pvm_getrbuf());
	OK(pvm_freebuf(first));
	GIVES(0, pvm_getsbuf());
	OK(pvm_freebuf(second));
}

/* What was packed is what may be unpacked; a refusal takes nothing. */
static void types(int self)
{
	int ints[3] = { 1, 2, 3 }, got[4] = { 0 };
	double real = 0.5, wrong[2];
	long wide;
	char text[16];

	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkint(ints, 3, 1));
	OK(pvm_pkdouble(&real, 1, 1));
	OK(pvm_pkstr("end"));
	OK(pvm_send(self, 1));
	CHECK(pvm_recv(self, 1) > 0);
	GIVES(PvmBadMsg, pvm_upkdouble(wrong, 1, 1));
	GIVES(PvmBadMsg, pvm_upkstr(text));
	GIVES(PvmBadMsg, pvm_upklong(&wide, 1, 1));
	GIVES(PvmBadMsg, pvm_upkint(got, 4, 1));
	GIVES(PvmNoData, pvm_upkint(got, 1000, 1));
	GIVES(PvmBadParam, pvm_upkint(got, -1, 1));
	GIVES(PvmBadParam, pvm_upkint(NULL, 1, 1));
	OK(pvm_upkint(got, 3, 1));
	CHECK(got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 0);
	GIVES(PvmBadMsg, pvm_upkint(got, 1, 1));
	GIVES(PvmNoData, pvm_upkdouble(wrong, 2000, 1));
	OK(pvm_upkdouble(wrong, 1, 1));
	CHECK(wrong[0] == 0.5);
	OK(pvm_upkstr(text));
	CHECK(strcmp(text, "end") == 0);
	GIVES(PvmNoData, pvm_upkint(got, 1, 1));
	GIVES(PvmNoData, pvm_upkstr(text));
	OK(pvm_upkint(got, 0, 1));

	/* Raw data is bytes: it reads as anything there is enough of. */
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	OK(pvm_pkint(ints, 2, 1));
	OK(pvm_send(self, 1));
	CHECK(pvm_recv(self, 1) > 0);
	GIVES(PvmNoData, pvm_upkdouble(wrong, 2, 1));
	OK(pvm_upklong(&wide, 1, 1));
	GIVES(PvmNoData, pvm_upkbyte(text, 1, 1));

	/* A string whose length, made of other data, reaches past the end. */
	CHECK(pvm_initsend(PvmDataRaw) > 0);
	got[0] = 0x7fffffff;
	OK(pvm_pkint(got, 2, 1));
	OK(pvm_send(self, 1));
	CHECK(pvm_recv(self, 1) > 0);
	CHECK(pvm_upkstr(text) < 0);
	GIVES(PvmBadParam, pvm_pkint(ints, -1, 1));
	GIVES(PvmBadParam, pvm_pkstr(NULL));
}

/* A thousand messages kept and freed in another order. */
static void many(int self)
{
	int bufids[1000], at;

	for (int i = 0; i < 1000; i++) {
		CHECK(pvm_initsend(i % 3) > 0);
		OK(pvm_pkint(&i, 1, 1));
		OK(pvm_send(self, i));
	}
	for (int i = 0; i < 1000; i++) {
		pvm_setrbuf(0);
		bufids[i] = pvm_recv(self, 999 - i);
		CHECK(bufids[i] > 0);
	}
	for (int i = 0; i < 1000; i += 2) {
		pvm_setrbuf(bufids[i]);
		OK(pvm_upkint(&at, 1, 1));
		GIVES(999 - i, at);
		OK(pvm_freebuf(bufids[i]));
	}
	for (int i = 1; i < 1000; i += 2)
		OK(pvm_freebuf(bufids[i]));
}

int main(void)
{
	int self = pvm_mytid();

	pvm_setopt(PvmAutoErr, 0);
	ids(self);
	types(self);
	many(self);
	return 0;
}
