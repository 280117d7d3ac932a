/* Round trips of 8 bytes, and rates: direct, a copy, and buffered. Check 15: buffered near bc * bn / (bc + bn). */
#include "cmmd_check.h"

#define LONG (1 << 20)
static char out[LONG], in[LONG];

static double rate(int self, int buffered)
{
	double took = 0, began;

	for (int i = 0; i < 200; i++) {
		if (!buffered) {
			/* The receive is posted first. */
			CMMD_mcb mcb = self == 0 ? 0 : CMMD_receive_async(0, 1, in, LONG, NULL, NULL);

			CMMD_sync_with_nodes();
			began = now();
			if (self == 0) {
				CMMD_send_noblock(1, 1, out, LONG);
			} else {
				CMMD_msg_wait(mcb);
				CMMD_free_mcb(mcb);
			}
			took += now() - began;
		} else {
			began = now();
			if (self == 0)
				CMMD_send_noblock(1, 1, out, LONG);
			took += self == 0 ? now() - began : 0;
			CMMD_sync_with_nodes();
			began = now();
			if (self == 1)
				CMMD_receive_block(0, 1, in, LONG);
			took += self == 1 ? now() - began : 0;
			CMMD_sync_with_nodes();
		}
	}
	took = buffered ? CMMD_reduce_double(took, CMMD_combiner_dadd) : CMMD_reduce_double(took, CMMD_combiner_dmin);
	return 200.0 * LONG / took * 1e-9;
}

int main(void)
{
	int self = CMMD_self_address(), rounds = 10000;
	double began, best = 1, direct, buffered, copy;
	struct parvum_totals before;

	for (int turn = 0; turn < 5; turn++) {
		CMMD_sync_with_nodes();
		began = now();
		for (int i = 0; i < rounds; i++)
			if (self == 0) {
				CMMD_send_noblock(1, 1, out, 8);
				CMMD_receive_block(1, 1, in, 8);
			} else {
				CMMD_receive_block(0, 1, in, 8);
				CMMD_send_noblock(0, 1, out, 8);
			}
		if ((now() - began) / rounds / 2 < best)
			best = (now() - began) / rounds / 2;
	}
	before = totals();
	direct = rate(self, 0);
	/* A receiver that gets no processor answers late, and its message is buffered. That all of them do is no accident. */
	CHECK(totals().buffered_at_sender - before.buffered_at_sender < 200ull * LONG);
	before = totals();
	buffered = rate(self, 1);
	/* No receive is posted before its message was sent: each byte is kept by its sender, once. */
	GIVES(self == 0 ? 200ull * LONG : 0, totals().buffered_at_sender - before.buffered_at_sender);
	began = now();
	for (int i = 0; i < 200; i++) {
		char *kept = malloc(LONG);

		out[i] = i;
		memcpy(kept, out, LONG);
		in[i] = kept[i];
		free(kept);
	}
	copy = 200.0 * LONG / (now() - began) * 1e-9;
	if (self == 0) {
		double model = copy * direct / (copy + direct);

		printf("half %.3f us, direct %.2f GB/s, copy %.2f GB/s, buffered %.2f GB/s, model %.2f\n", best * 1e6,
		       direct, copy, buffered, model);
		printf("all well\n");
	}
	return 0;
}
