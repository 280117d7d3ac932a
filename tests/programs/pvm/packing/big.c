/*
 * Large messages both ways between two tasks. With `hidden` neither lets the
 * other look into its memory: the program makes sure that the kernel refuses.
 */
#include "check.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/uio.h>

enum { WORD = 1 };
#define LARGEST (9 << 20)

static char data[LARGEST], got[LARGEST];
static const int sizes[] = { 9000, 70000, 1 << 20, (1 << 20) + 1, LARGEST };

static void exchange(int with, int sending)
{
	for (int i = 0; i < 10; i++) {
		int size = sizes[i / 2], bytes;

		if (i % 2 == sending) {
			for (int k = 0; k < size; k++)
				data[k] = (char)(k * 31 + i);
			CHECK(pvm_initsend(i % 3) > 0);
			OK(pvm_pkbyte(data, size, 1));
			OK(pvm_send(with, WORD));
			continue;
		}
		OK(pvm_bufinfo(hear(with, WORD), &bytes, NULL, NULL));
		/* XDR fills bytes up to four. */
		GIVES(i % 3 == PvmDataDefault ? (size + 3) / 4 * 4 : size, bytes);
		OK(pvm_upkbyte(got, size, 1));
		for (int k = 0; k < size; k++)
			if (got[k] != (char)(k * 31 + i))
				GIVES(k, -1);
	}
}

int main(int argc, char **argv)
{
	int child, pid = getpid(), its_pid, hidden = argc > 1 && strstr(argv[1], "hidden") != NULL;
	long address = (long)data, its_address;

	if (hidden)
		CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
	if (argc > 1 && strstr(argv[1], "copy")) {
		CHECK(pvm_initsend(PvmDataDefault) > 0);
		OK(pvm_packf("%d %ld", pid, address));
		OK(pvm_send(pvm_parent(), WORD));
		exchange(pvm_parent(), 1);
		return 0;
	}
	copies(argv[0], hidden ? "hidden-copy" : "copy", 1, &child);
	hear(child, WORD);
	OK(pvm_unpackf("%d %ld", &its_pid, &its_address));
	struct iovec mine = { got, 64 }, its = { (void *)its_address, 64 };
	ssize_t copied = process_vm_readv(its_pid, &mine, 1, &its, 1, 0);
	if (hidden)
		CHECK(copied == -1 && errno == EPERM);
	exchange(child, 0);
	ends(1);
	return 0;
}
