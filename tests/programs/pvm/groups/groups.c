/* Groups: membership, and the calls of all members, with as many as the argument says. */
#include "check.h"

#define GROUP "everybody"
#define COUNT 100

static int size, me;
enum { START = 1, CAST, REDUCE, GATHER, SCATTER, USER };

/* Every type: each member has its instance + 1 in the first half and item numbers in the second. */
#define TYPE(name, number, code, parts)                                                        \
	static void reduce_##name(void)                                                        \
	{                                                                                      \
		static void (*const with[])(int *, void *, void *, int *, int *) = {           \
			PvmSum, PvmProduct, PvmMax, PvmMin };                                  \
		number a[COUNT * parts];                                                       \
		for (int w = 0; w < 4; w++) {                                                  \
			int root = w % size, lowest = 1, highest = size, sum = 0, product = 1; \
			for (int i = 0; i < COUNT; i++)                                        \
				for (int k = 0; k < parts; k++)                                \
					a[i * parts + k] = (number)(k ? 0 : i < 50 ? me + 1 : 2); \
			for (int i = 1; i <= size; i++) {                                      \
				sum += i;                                                      \
				product *= i % 3 + 1;                                          \
			}                                                                      \
			if (w == 1) /* small factors: the product fits a byte */               \
				for (int i = 0; i < COUNT; i++)                                \
					a[i * parts] = (number)((me + 1) % 3 + 1);             \
			if (w == 1 && sizeof(number) == 1 && size > 5)                         \
				continue;                                                      \
			OK(pvm_reduce(with[w], a, COUNT, code, REDUCE, GROUP, root));          \
			if (me != root)                                                        \
				continue;                                                      \
			int want[] = { sum, product, highest, lowest };                        \
			for (int i = 0; i < (w == 1 ? COUNT : 50); i++)                        \
				for (int k = 0; k < parts; k++)                                \
					CHECK(a[i * parts + k] == (number)(k ? 0 : want[w]));  \
			if (w == 0)                                                            \
				CHECK(a[99 * parts] == (number)(2 * size));                    \
		}                                                                              \
	}                                                                                      \
	static void share_##name(void)                                                         \
	{                                                                                      \
		number mine[3 * parts], *all = calloc((size_t)size * 3 * parts, sizeof *all);  \
		int root = (code + 1) % size;                                                  \
		for (int i = 0; i < 3 * parts; i++)                                            \
			mine[i] = (number)(10 * me + i);                                       \
		OK(pvm_gather(all, mine, 3, code, GATHER, GROUP, root));                       \
		for (int at = 0; me == root && at < size; at++)                                \
			for (int i = 0; i < 3 * parts; i++) {                                  \
				CHECK(all[at * 3 * parts + i] == (number)(10 * at + i));       \
				all[at * 3 * parts + i] += (number)1;                          \
			}                                                                      \
		OK(pvm_scatter(mine, all, 3, code, SCATTER, GROUP, root));                     \
		for (int i = 0; i < 3 * parts; i++)                                            \
			CHECK(mine[i] == (number)(10 * me + i + 1));                           \
		free(all);                                                                     \
	}

TYPE(byte, unsigned char, PVM_BYTE, 1)
TYPE(short, short, PVM_SHORT, 1)
TYPE(int, int, PVM_INT, 1)
TYPE(float, float, PVM_FLOAT, 1)
TYPE(cplx, float, PVM_CPLX, 2)
TYPE(double, double, PVM_DOUBLE, 1)
TYPE(dcplx, double, PVM_DCPLX, 2)
TYPE(long, long, PVM_LONG, 1)
TYPE(ushort, unsigned short, PVM_USHORT, 1)
TYPE(uint, unsigned int, PVM_UINT, 1)
TYPE(ulong, unsigned long, PVM_ULONG, 1)

#define BOTH(name) reduce_##name, share_##name
static void (*const each[])(void) = {
	BOTH(byte), BOTH(short), BOTH(int), BOTH(float), BOTH(cplx), BOTH(double), BOTH(dcplx), BOTH(long),
	BOTH(ushort), BOTH(uint), BOTH(ulong),
};

/* A user's function: keeps the longest distance from 1000; calls PVM itself, as it may. */
static void farthest(int *datatype, void *x, void *y, int *count, int *info)
{
	long *a = x, *b = y;

	CHECK(*datatype == PVM_LONG && *count == 2 && pvm_mytid() > 0);
	for (int i = 0; i < *count; i++)
		if (labs(b[i] - 1000) > labs(a[i] - 1000))
			a[i] = b[i];
	*info = PvmOk;
}

static void users_function(void)
{
	long data[2] = { me, 2000 + me };

	OK(pvm_reduce(farthest, data, 2, PVM_LONG, USER, GROUP, 0));
	if (me == 0)
		CHECK(data[0] == 0 && data[1] == 2000 + size - 1);
}

static void membership(void)
{
	char own[32];

	GIVES(me, pvm_getinst(GROUP, pvm_mytid()));
	GIVES(pvm_mytid(), pvm_gettid(GROUP, me));
	GIVES(size, pvm_gsize(GROUP));
	pvm_setopt(PvmAutoErr, 0);
	GIVES(PvmDupGroup, pvm_joingroup(GROUP));
	GIVES(PvmNoInst, pvm_gettid(GROUP, size));
	GIVES(PvmNullGroup, pvm_joingroup(NULL));
	GIVES(PvmNullGroup, pvm_joingroup(""));
	GIVES(PvmNoGroup, pvm_gsize("nobody's"));
	GIVES(PvmNoGroup, pvm_barrier("nobody's", 1));
	GIVES(PvmNoGroup, pvm_lvgroup("nobody's"));
	GIVES(PvmNotInGroup, pvm_getinst(GROUP, pvm_gettid(GROUP, 0) | 0x3ffff));
	GIVES(PvmMismatch, pvm_barrier(GROUP, 0));
	CHECK(pvm_reduce(NULL, own, 1, PVM_INT, REDUCE, GROUP, 0) == PvmBadParam);
	CHECK(pvm_gather(own, own, -1, PVM_INT, REDUCE, GROUP, 0) == PvmBadParam);
	CHECK(pvm_gather(own, own, 1, 99, REDUCE, GROUP, 0) == PvmBadParam);
	CHECK(pvm_scatter(own, own, 1, PVM_BYTE, REDUCE, GROUP, size) == PvmNoInst);
	pvm_setopt(PvmAutoErr, 1);
	/* A group of one's own; numbers of those who left are given again. */
	snprintf(own, sizeof own, "own%d", me);
	GIVES(0, pvm_joingroup(own));
	OK(pvm_barrier(own, 1));
	OK(pvm_lvgroup(own));
	GIVES(0, pvm_joingroup(own));
	OK(pvm_lvgroup(own));
}

static void broadcast(void)
{
	int value = -1, tid;

	for (int root = 0; root < size; root++) {
		if (me == root) {
			CHECK(pvm_initsend(PvmDataDefault) > 0);
			OK(pvm_pkint(&root, 1, 1));
			/* Nobody to hear it is a failure. */
			pvm_setopt(PvmAutoErr, 0);
			GIVES(size > 1 ? PvmOk : PvmNoInst, pvm_bcast(GROUP, CAST));
			pvm_setopt(PvmAutoErr, 1);
			continue;
		}
		int bufid = pvm_recv(pvm_gettid(GROUP, root), CAST);
		CHECK(bufid > 0);
		OK(pvm_bufinfo(bufid, NULL, NULL, &tid));
		OK(pvm_upkint(&value, 1, 1));
		GIVES(root, value);
	}
}

int main(int argc, char **argv)
{
	int tids[16], first = argc == 2;
	char *args[] = { "member", argc > 1 ? argv[argc - 1] : "", NULL };

	CHECK(argc == 2 || argc == 3);
	size = atoi(argv[argc - 1]);
	CHECK(size > 0 && size <= 16);
	if (first && size > 1) {
		GIVES(size - 1, pvm_spawn(argv[0], args, PvmTaskDefault, NULL, size - 1, tids));
		OK(pvm_notify(PvmTaskExit, TAG_ENDED, size - 1, tids));
	}
	me = pvm_joingroup(GROUP);
	CHECK(me >= 0 && me < size);
	OK(pvm_barrier(GROUP, size));
	membership();
	OK(pvm_barrier(GROUP, size));
	broadcast();
	for (size_t i = 0; i < sizeof each / sizeof *each; i++)
		each[i]();
	users_function();
	for (int i = 0; i < 20; i++)
		OK(pvm_barrier(GROUP, i % 2 ? size : -1));
	OK(pvm_lvgroup(GROUP));
	if (first && size > 1)
		ends(size - 1);
	OK(pvm_exit());
	return 0;
}
