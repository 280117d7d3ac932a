/* Running out of descriptors, and of credit, and going on: two nodes. Check 9. */
#include "cmmd_check.h"

#define MOST 512
static char data[4000];

int main(void)
{
	int self = CMMD_self_address(), sent = 0, got;
	CMMD_mcb mcbs[MOST];

	GIVES(MOST, CMMD_available_sends());
	GIVES(MOST, CMMD_available_receives());
	if (self == 0) {
		for (int i = 0; i < MOST; i++)
			CHECK((mcbs[i] = CMMD_send_async(1, 3, &data[i], 1, NULL, NULL)) > 0);
		GIVES(0, CMMD_available_sends());
		FAILS(CMMD_ERR_NO_RPORTS, CMMD_send_async(1, 3, data, 1, NULL, NULL));
		CMMD_sync_with_nodes();
		CMMD_all_msgs_wait();
		for (int i = 0; i < MOST; i++)
			CMMD_free_mcb(mcbs[i]);
		GIVES(MOST, CMMD_available_sends());
		/* A handle that was given back names nothing, whoever has its place now. */
		CHECK((mcbs[1] = CMMD_receive_async(1, 9, data, 1, NULL, NULL)) > 0);
		FAILS(CMMD_ERR_BAD_MCB, CMMD_msg_done(mcbs[0]));
		for (int i = 1; i < MOST; i++)
			CHECK((mcbs[i] = CMMD_receive_async(1, 9, data, 1, NULL, NULL)) > 0);
		FAILS(CMMD_ERR_NO_RPORTS, CMMD_receive_async(1, 9, data, 1, NULL, NULL));
		/* More than PARVUM_CREDIT of noblock to a node that does not receive. */
		while (CMMD_send_noblock(1, 4, data, sizeof data) == 0)
			sent++;
		GIVES(CMMD_ERR_NO_RPORTS, CMMD_get_errno());
		CHECK(sent > 10 && sent < 1000);
		CMMD_sync_with_nodes();
		CHECK(CMMD_send_block(1, 5, &sent, sizeof sent) == 0);
		CHECK(CMMD_receive_block(1, 6, &got, sizeof got) == 0);
		CHECK(CMMD_send_noblock(1, 4, data, sizeof data) == 0);
		for (int i = 0; i < MOST; i++)
			CHECK(CMMD_receive_block(1, 10, data, 1) == 0);
	} else {
		CMMD_sync_with_nodes();
		for (int i = 0; i < MOST; i++)
			CHECK(CMMD_receive_block(0, 3, data, 1) == 0);
		CMMD_sync_with_nodes();
		/* Nothing else comes from there before some of it is received. */
		for (;; sent++) {
			CHECK(CMMD_receive_block(0, CMMD_ANY_TAG, data, sizeof data) == 0);
			if (CMMD_msg_tag() == 5)
				break;
			GIVES(4, CMMD_msg_tag());
		}
		memcpy(&got, data, sizeof got);
		GIVES(got, sent);
		CHECK(CMMD_send_block(0, 6, &sent, sizeof sent) == 0);
		CHECK(CMMD_receive_block(0, 4, data, sizeof data) == 0);
		for (int i = 0; i < MOST; i++) {
			CHECK(CMMD_send_noblock(0, 9, data, 1) == 0);
			CHECK(CMMD_send_noblock(0, 10, data, 1) == 0);
		}
	}
	CMMD_sync_with_nodes();
	if (self == 0)
		puts("all well");
	return 0;
}
