/* A noblock send that found no receive posted: its copy is fetched while the sender makes no call of the library at all.
 * `cmmd_away FOLDER`: a folder in which the nodes tell each other, by files, how far they are. */
#include "cmmd_check.h"

#include <fcntl.h>

static const int lengths[] = { 1, 8, 4096, 60000, 1 << 20 };
static char data[1 << 20];
static const char *folder;

static void path_of(char *path, size_t room, const char *what, int length)
{
	CHECK(snprintf(path, room, "%s/%s-%d", folder, what, length) < (int)room);
}

static void tell(const char *what, int length)
{
	char path[4096];
	int file;

	path_of(path, sizeof path, what, length);
	file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(file >= 0 && close(file) == 0);
}

/* Without the library: nothing that it does in a call may help. */
static void await_told(const char *what, int length)
{
	char path[4096];
	int patience;

	path_of(path, sizeof path, what, length);
	for (patience = 60000; access(path, F_OK) != 0; patience--) {
		CHECK(patience > 0);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	int self = CMMD_self_address(), i;

	CHECK(argc == 2);
	folder = argv[1];
	for (i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++) {
		int length = lengths[i];

		CMMD_sync_with_nodes();
		if (self == 0) {
			memset(data, 'a' + i, (size_t)length);
			CHECK(CMMD_send_noblock(1, 5, data, length) == 0);
			memset(data, 'z', (size_t)length);
			tell("sent", length);
			await_told("received", length);
		} else {
			await_told("sent", length);
			CHECK(CMMD_receive_block(0, 5, data, length) == 0);
			CHECK(data[0] == 'a' + i && data[length - 1] == 'a' + i);
			tell("received", length);
		}
	}
	puts("all well");
	return 0;
}
