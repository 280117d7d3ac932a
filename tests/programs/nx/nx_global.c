/* What all nodes do together, for any number of nodes. */
#include "nx_check.h"

enum { N = 3000 };

static long add_both(void *x, void *work)
{
	double *mine = x, *theirs = work;

	for (int i = 0; i < 2; i++)
		mine[i] += theirs[i];
	return 0;
}

/* All nodes have the same bits. */
static void same_everywhere(const double *x, long n)
{
	long me = mynode(), nodes = numnodes(), length = n * (long)sizeof *x, total;
	char *all = malloc((size_t)(length * nodes));

	gcol((void *)x, length, all, length * nodes, &total);
	GIVES(length * nodes, total);
	for (long node = 0; node < nodes; node++)
		CHECK(memcmp(all + node * length, all + me * length, (size_t)length) == 0);
	free(all);
}

int main(void)
{
	long me = mynode(), nodes = numnodes(), i[3], work[3], sum = nodes * (nodes + 1) / 2;
	static double d[N], scratch[N];
	float s[2], swork[2];

	for (int round = 0; round < 100; round++)
		gsync();
	i[0] = me + 1, i[1] = -me, i[2] = 1;
	gisum(i, 3, work);
	CHECK(i[0] == sum && i[1] == nodes - sum && i[2] == nodes);
	i[0] = 2, i[1] = me == 0 ? 3 : 1;
	giprod(i, 2, work);
	CHECK(i[0] == 1L << nodes && i[1] == 3);
	i[0] = me;
	gihigh(i, 1, work);
	GIVES(nodes - 1, i[0]);
	i[0] = -me;
	gilow(i, 1, work);
	GIVES(1 - nodes, i[0]);
	i[0] = 7 ^ (me == 0), i[1] = 7;
	giand(i, 2, work);
	CHECK(i[0] == 6 && i[1] == 7);
	i[0] = 1L << me;
	gior(i, 1, work);
	GIVES((1L << nodes) - 1, i[0]);
	i[0] = 1L << me, i[1] = 5;
	gixor(i, 2, work);
	CHECK(i[0] == (1L << nodes) - 1 && i[1] == (nodes % 2 ? 5 : 0));
	i[0] = 4, i[1] = me != 0;
	gland(i, 2, work);
	CHECK(i[0] == 1 && i[1] == 0);
	i[0] = me == 0 ? 8 : 0, i[1] = 0;
	glor(i, 2, work);
	CHECK(i[0] == 1 && i[1] == 0);
	i[0] = 9;
	glxor(i, 1, work);
	GIVES(nodes % 2, i[0]);
	s[0] = 0.5f, s[1] = (float)me;
	gssum(s, 2, swork);
	CHECK(s[0] == 0.5f * (float)nodes && s[1] == (float)(sum - nodes));
	s[0] = 2;
	gsprod(s, 1, swork);
	CHECK(s[0] == (float)(1L << nodes));
	s[0] = (float)me;
	gshigh(s, 1, swork);
	CHECK(s[0] == (float)(nodes - 1));
	s[0] = (float)me + 1;
	gslow(s, 1, swork);
	CHECK(s[0] == 1);
	d[0] = me + 2;
	gdlow(d, 1, scratch);
	CHECK(d[0] == 2);
	d[0] = me + 2;
	gdhigh(d, 1, scratch);
	CHECK(d[0] == (double)nodes + 1);
	d[0] = 2;
	gdprod(d, 1, scratch);
	CHECK(d[0] == (double)(1L << nodes));

	/* Numbers whose sum depends on the order: it is the same on all nodes. */
	for (int at = 0; at < N; at++)
		d[at] = 1.0 / (double)(7 + at + 13 * me) * (at % 3 ? 1e10 : 1e-7);
	gdsum(d, N, scratch);
	same_everywhere(d, N);
	for (int at = 0; at < 5; at++)
		d[at] = 1.0 / (double)(3 + at + me);
	gdsum(d, 5, scratch);
	same_everywhere(d, 5);
	d[0] = me, d[1] = 1;
	gopf(d, 2 * sizeof *d, scratch, add_both);
	CHECK(d[0] == (double)(sum - nodes) && d[1] == (double)nodes);

	/* Unequal lengths, and none. Node k gives k letters, and the first nothing. */
	char letters[64], all[4096];
	long total = -1, lengths[64];
	memset(letters, 'a' + (int)me, sizeof letters);
	gcol(letters, me, all, sizeof all, &total);
	GIVES(sum - nodes, total);
	for (long node = 0, at = 0; node < nodes; node++)
		for (long k = 0; k < node; k++)
			CHECK(all[at++] == 'a' + (char)node);
	for (long node = 0; node < nodes; node++)
		lengths[node] = node % 2 ? 0 : 3;
	gcolx(letters, lengths, all);
	for (long node = 0, at = 0; node < nodes; node += 2)
		for (long k = 0; k < 3; k++)
			CHECK(all[at++] == 'a' + (char)node);
	FAILS(EQMSGLONG, _gcol(letters, 10, all, 10 * nodes - 1, &total));
	FAILS(EQPBUF, _gcolx(letters, NULL, all));
	GIVES(0, _gsync());
	printf("node %ld: all well\n", me);
	return 0;
}
