/*
 * Listens to all that passes this host's network, until its input ends, and says in how many packets it could read what
 * `across flood` sends: bytes of which each is 31 more than the last.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define ENOUGH 64

static int can_read(const unsigned char *bytes, ssize_t length)
{
	int run = 0;

	for (ssize_t i = 1; i < length; i++) {
		run = (unsigned char)(bytes[i] - bytes[i - 1]) == 31 ? run + 1 : 0;
		if (run == ENOUGH)
			return 1;
	}
	return 0;
}

int main(void)
{
	static unsigned char packet[1 << 17];
	long seen = 0, read_of_them = 0;
	int all = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	struct pollfd either[2] = { { all, POLLIN, 0 }, { 0, POLLIN, 0 } };

	if (all < 0) {
		perror("sniff: a packet socket");
		return 1;
	}
	puts("listening");
	fflush(stdout);
	for (;;) {
		ssize_t length;

		if (poll(either, 2, -1) < 0)
			return 1;
		if (!(either[0].revents & POLLIN)) {
			if (either[1].revents)
				break;
			continue;
		}
		length = recv(all, packet, sizeof packet, 0);
		if (length > 0) {
			seen++;
			read_of_them += can_read(packet, length);
		}
	}
	printf("read %ld\n", read_of_them);
	printf("seen %ld\n", seen);
	return seen == 0;
}
