/* Both send first: `block` waits for ever, every other way ends. Check 5. */
#include "cmmd_check.h"

static char out[100000], in[100000];

int main(int argc, char **argv)
{
	int other = 1 - CMMD_self_address(), length = sizeof out;
	const char *way = argc > 1 ? argv[1] : "";
	CMMD_mcb mcb;

	memset(out, 'a' + other, sizeof out);
	if (!strcmp(way, "block")) {
		printf("node %d sends\n", 1 - other);
		fflush(stdout);
		CMMD_send_block(other, 1, out, length);
		puts("not reached");
		return 0;
	}
	for (int round = 0; round < 20; round++) {
		length = round % 2 ? 8 : (int)sizeof out;
		memset(in, 0, sizeof in);
		if (!strcmp(way, "noblock")) {
			CHECK(CMMD_send_noblock(other, 1, out, length) == 0);
			CHECK(CMMD_receive_block(other, 1, in, length) == 0);
		} else if (!strcmp(way, "async")) {
			mcb = CMMD_send_async(other, 1, out, length, NULL, NULL);
			CHECK(mcb > 0 && CMMD_receive_block(other, 1, in, length) == 0);
			CMMD_msg_wait(mcb);
			CMMD_free_mcb(mcb);
		} else if (!strcmp(way, "swap"))
			GIVES(1, CMMD_swap(other, in, length, out, length));
		else
			GIVES(1, CMMD_send_and_receive(other, 1, in, length, other, 1, out, length));
		GIVES(length, CMMD_bytes_received());
		CHECK(in[0] == 'a' + 1 - other && in[length - 1] == 'a' + 1 - other);
	}
	puts("all well");
	return 0;
}
