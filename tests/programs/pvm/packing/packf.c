/* pvm_packf and pvm_unpackf: every format, as value, array, and with '*'. */
#include "check.h"

int main(void)
{
	int self = pvm_mytid();

	for (int encoding = PvmDataDefault; encoding <= PvmDataInPlace; encoding++) {
		char c[3] = { 'x', 'y', 'z' }, c2, c3[3], s[20];
		short h[4] = { 1, -2, 3, -4 }, h2, h3[4];
		unsigned short uh2;
		int d[4] = { 10, -20, 30, -40 }, d2, d3[4];
		unsigned u2;
		long l2, l3[2], l[2] = { 1L << 40, -5 };
		unsigned long ul2;
		float f[3] = { 1.5f, 2.5f, -3.5f }, f2, f3[3], x[2] = { 1, -1 }, x2[2];
		double lf2, lx[4] = { 1, 2, 3, 4 }, lx2[4], lf[600], lf3[600];

		for (int i = 0; i < 600; i++)
			lf[i] = i / 3.0;
		OK(pvm_packf("%+ %c %hd %hud %d %ud %ld %lud %f %lf %s", encoding, 'q', -7, 65535, -70000,
			4000000000u, -(1L << 50), ~0ul, 0.25, 1e-200, "some text"));
		OK(pvm_packf("%3c %4hd %*d %2.2d %2ld %3f %.*f %x %2lx %600lf", c, h, 4, d, d, l, f, 1, f, x, lx, lf));
		OK(pvm_send(self, 1));

		CHECK(pvm_recv(self, 1) > 0);
		OK(pvm_unpackf("%c %hd %hud %d %ud %ld", &c2, &h2, &uh2, &d2, &u2, &l2));
		CHECK(c2 == 'q' && h2 == -7 && uh2 == 65535 && d2 == -70000 && u2 == 4000000000u && l2 == -(1L << 50));
		OK(pvm_unpackf("%lud %f %lf %s", &ul2, &f2, &lf2, s));
		CHECK(ul2 == ~0ul && f2 == 0.25f && lf2 == 1e-200 && strcmp(s, "some text") == 0);
		OK(pvm_unpackf("%3c%4hd%*d", c3, h3, 4, d3));
		CHECK(memcmp(c, c3, sizeof c) == 0 && memcmp(h, h3, sizeof h) == 0 && memcmp(d, d3, sizeof d) == 0);
		OK(pvm_unpackf("%2.*d %2ld %3f %f", 3, d3, l3, f3, &f2));
		CHECK(d3[0] == d[0] && d3[3] == d[2] && l3[0] == l[0] && l3[1] == l[1]);
		CHECK(memcmp(f, f3, sizeof f) == 0 && f2 == f[0]);
		OK(pvm_unpackf("%x %2lx %600lf", x2, lx2, lf3));
		CHECK(memcmp(x, x2, sizeof x) == 0 && memcmp(lx, lx2, sizeof lx) == 0 && memcmp(lf, lf3, sizeof lf) == 0);
		pvm_setopt(PvmAutoErr, 0);
		GIVES(PvmNoData, pvm_unpackf("%d", &d2));
		GIVES(PvmBadParam, pvm_packf("%q", 1));
		GIVES(PvmBadParam, pvm_packf("%", 1));
		OK(pvm_packf("no item"));
		GIVES(PvmBadParam, pvm_unpackf(NULL));
		GIVES(PvmBadParam, pvm_packf("%+", 17));
		pvm_setopt(PvmAutoErr, 1);
	}
	return 0;
}
