/* The floor of far.c: the same ping-pong over TCP with nothing between, waiting as a Parvum task waits: it looks for
 * 50 us, then sleeps in poll(2).
 *
 *     wire serve PORT
 *     wire ADDRESS PORT BYTES TIMES     microseconds of half a round trip
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WARM = 20, LONGEST = 50000 };

static long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void await(int link, short what)
{
    struct pollfd one = { .fd = link, .events = what };

    poll(&one, 1, -1);
}

static int take(int link, char *data, size_t bytes)
{
    long since = now();

    while (bytes > 0) {
        ssize_t got = recv(link, data, bytes, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return 0;
        if (got > 0) {
            data += got;
            bytes -= (size_t)got;
        } else if (now() - since > LONGEST) {
            await(link, POLLIN);
        }
    }
    return 1;
}

static int put(int link, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(link, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent > 0) {
            data += sent;
            bytes -= (size_t)sent;
        } else if (errno == EAGAIN) {
            await(link, POLLOUT);
        } else if (errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    int link = socket(AF_INET, SOCK_STREAM, 0), on = 1, server = argc == 3 && strcmp(argv[1], "serve") == 0;
    struct sockaddr_in address = { .sin_family = AF_INET };

    if (!server && argc != 5)
        return 2;
    address.sin_port = htons((unsigned short)atoi(argv[2]));
    setsockopt(link, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (server) {
        if (bind(link, (struct sockaddr *)&address, sizeof address) != 0 || listen(link, 1) != 0)
            return 1;
        link = accept(link, NULL, NULL);
    } else {
        inet_pton(AF_INET, argv[1], &address.sin_addr);
        if (connect(link, (struct sockaddr *)&address, sizeof address) != 0)
            return 1;
    }
    setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (server) {
        int bytes;

        if (!take(link, (char *)&bytes, sizeof bytes))
            return 1;
        char *data = malloc((size_t)bytes);
        while (take(link, data, (size_t)bytes) && put(link, data, (size_t)bytes))
            continue;
        return 0;
    }
    int bytes = atoi(argv[3]), times = atoi(argv[4]);
    char *data = calloc(1, (size_t)bytes);
    long began = 0;

    if (!put(link, (char *)&bytes, sizeof bytes))
        return 1;
    for (int at = -WARM; at < times; at++) {
        if (at == 0)
            began = now();
        if (!put(link, data, (size_t)bytes) || !take(link, data, (size_t)bytes))
            return 1;
    }
    printf("%.3f\n", (double)(now() - began) / times / 2 / 1e3);
    return 0;
}
