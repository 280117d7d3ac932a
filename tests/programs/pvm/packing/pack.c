/*
 * Every pk and upk call, packed each way, with counts around the limits where a
 * message changes its form, and strides; from one task to another, and to itself.
 */
#include "check.h"

#define TAG 7
#define LARGEST (1 << 20)	/* bytes of items */
#define MOST_STRIDE 3

static long long memory[2][LARGEST / 8 * (MOST_STRIDE + 1) + 16];

/* For each type: how to fill `count` items, pack, unpack and compare them. */
#define TYPE(name, number, parts, value)                                                       \
	static void fill_##name(int count, int stride)                                         \
	{                                                                                      \
		number *p = (number *)memory[0];                                               \
		for (long i = 0; i < count; i++)                                               \
			for (int k = 0; k < parts; k++) {                                      \
				long n = i * 3 + k;                                            \
				p[i * stride * parts + k] = (number)(value);                   \
			}                                                                      \
	}                                                                                      \
	static int pack_##name(int count, int stride)                                          \
	{                                                                                      \
		return pvm_pk##name((number *)memory[0], count, stride);                       \
	}                                                                                      \
	static void unpack_##name(int count, int stride)                                       \
	{                                                                                      \
		number *p = (number *)memory[1];                                               \
		size_t span = (size_t)(count ? (count - 1) * stride + 1 : 0) * parts;          \
		memset(p, 0x5a, (span + parts) * sizeof *p);                                   \
		OK(pvm_upk##name(p, count, stride));                                           \
		number untouched;                                                              \
		memset(&untouched, 0x5a, sizeof untouched);                                    \
		for (size_t at = 0; at < span + parts; at++) {                                 \
			size_t item = at / parts;                                              \
			if (item % stride == 0 && at < span) {                                 \
				long n = (long)(item / stride) * 3 + (long)(at % parts);       \
				number want = (number)(value);                                 \
				CHECK(memcmp(&p[at], &want, sizeof want) == 0);                \
			} else {                                                               \
				CHECK(memcmp(&p[at], &untouched, sizeof untouched) == 0);      \
			}                                                                      \
		}                                                                              \
	}

TYPE(byte, char, 1, n * 7)
TYPE(short, short, 1, n * 257 - 32768)
TYPE(ushort, unsigned short, 1, n * 259 + 65535)
TYPE(int, int, 1, n * 1000003 - 2147483647)
TYPE(uint, unsigned int, 1, n * 1000003 + 4294967295)
TYPE(long, long, 1, n * 1000000007 - 9000000000000000000)
TYPE(ulong, unsigned long, 1, 18446744073709551615ul - (unsigned long)n * 1000000007ul)
TYPE(float, float, 1, (float)n * -0.37f)
TYPE(double, double, 1, (double)n * 1.1e-300)
TYPE(cplx, float, 2, (float)n * 3.3e10f)
TYPE(dcplx, double, 2, (double)n * -7.7e200)

#define ROW(name, number, parts) { #name, sizeof(number) * parts, fill_##name, pack_##name, unpack_##name }
static const struct type {
	const char *name;
	size_t size;
	void (*fill)(int, int);
	int (*pack)(int, int);
	void (*unpack)(int, int);
} types[] = {
	ROW(byte, char, 1), ROW(short, short, 1), ROW(ushort, unsigned short, 1), ROW(int, int, 1),
	ROW(uint, unsigned int, 1), ROW(long, long, 1), ROW(ulong, unsigned long, 1), ROW(float, float, 1),
	ROW(double, double, 1), ROW(cplx, float, 2), ROW(dcplx, double, 2),
};

/* Bytes: inline, in place at all, one frame, copied or kept, a socket's frames, pieces of a stream. */
static const size_t sizes[] = { 0, 1, 16, 48, 64, 240, 256, 272, 4096, 8176, 8192, 8208, 32768, 65536, 70000, 262144, LARGEST };
#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

typedef void step(const struct type *type, int encoding, int count, int stride);

static void each(step *act)
{
	for (int encoding = PvmDataDefault; encoding <= PvmDataInPlace; encoding++)
		for (int t = 0; t < COUNT(types); t++)
			for (int s = 0; s < COUNT(sizes); s++) {
				int count = (int)((sizes[s] + types[t].size - 1) / types[t].size);

				/* The large ones once per type; small ones with every stride. */
				if (sizes[s] > 10000 && (s + t) % 4)
					continue;
				for (int stride = 1; stride <= (sizes[s] > 10000 ? 1 : MOST_STRIDE); stride++)
					act(&types[t], encoding, count, stride);
			}
	/* Sent as packed, whatever the program does with its memory afterwards; several pieces of each kind. */
}

static int partner;

static void put(const struct type *type, int encoding, int count, int stride)
{
	CHECK(pvm_initsend(encoding) > 0);
	type->fill(count, stride);
	OK(type->pack(count, stride));
	OK(pvm_send(partner, TAG));
	memset(memory[0], 0x33, type->size * (size_t)(count * stride + 1));
}

static void get(const struct type *type, int encoding, int count, int stride)
{
	int bytes, tag, tid, more;

	int bufid = pvm_recv(partner, TAG);
	CHECK(bufid > 0);
	OK(pvm_bufinfo(bufid, &bytes, &tag, &tid));
	if (encoding != PvmDataDefault)
		GIVES(type->size * (size_t)count, bytes);
	GIVES(TAG, tag);
	GIVES(partner, tid);
	type->unpack(count, stride);
	pvm_setopt(PvmAutoErr, 0);
	GIVES(PvmNoData, pvm_upkint(&more, 1, 1));
	pvm_setopt(PvmAutoErr, 1);
}

static void both(const struct type *type, int encoding, int count, int stride)
{
	put(type, encoding, count, stride);
	get(type, encoding, count, stride);
}

/* Several arrays in one message, dense ones left in place among copied ones. */
static void mixed(int sending)
{
	static int a[5000], b[5000];
	double few[3] = { 1.5, -2.5, 1e300 };
	char text[] = "a few words", got[32];

	for (int encoding = PvmDataDefault; encoding <= PvmDataInPlace; encoding++) {
		for (int i = 0; i < 5000; i++)
			a[i] = i * encoding + 1;
		if (sending) {
			CHECK(pvm_initsend(encoding) > 0);
			OK(pvm_pkint(a, 5000, 1));
			OK(pvm_pkstr(text));
			OK(pvm_pkdouble(few, 3, 1));
			OK(pvm_pkstr(""));
			OK(pvm_pkint(a + 4999, 2500, -2));
			OK(pvm_pkint(a, 1000, 1));
			/* Twice the same buffer: it stays as it was packed. */
			OK(pvm_send(partner, TAG));
			OK(pvm_send(partner, TAG));
			continue;
		}
		for (int again = 0; again < 2; again++) {
			double other[3];

			CHECK(pvm_recv(partner, TAG) > 0);
			memset(b, 0, sizeof b);
			OK(pvm_upkint(b, 2000, 1));
			OK(pvm_upkint(b + 2000, 3000, 1));
			CHECK(memcmp(a, b, sizeof a) == 0);
			OK(pvm_upkstr(got));
			CHECK(strcmp(text, got) == 0);
			OK(pvm_upkdouble(other, 3, 1));
			CHECK(memcmp(few, other, sizeof few) == 0);
			OK(pvm_upkstr(got));
			CHECK(*got == 0);
			OK(pvm_upkint(b, 2500, 1));
			for (int i = 0; i < 2500; i++)
				CHECK(b[i] == a[4999 - 2 * i]);
			OK(pvm_upkint(b + 999, 1000, -1));
			for (int i = 0; i < 1000; i++)
				CHECK(b[999 - i] == a[i]);
		}
	}
}

int main(int argc, char **argv)
{
	int child;

	if (argc > 1) {
		partner = pvm_parent();
		each(get);
		mixed(0);
		each(put);
		mixed(1);
		OK(pvm_exit());
		return 0;
	}
	copies(argv[0], "partner", 1, &child);
	partner = child;
	each(put);
	mixed(1);
	/* Both ways, so that nobody's memory grows without bound. */
	partner = child;
	each(get);
	mixed(0);
	ends(1);
	partner = pvm_mytid();
	each(both);
	return 0;
}
