/* What a network gives to sockets, without any message-passing system: a stream of TCP, after Fatoohi's use of ttcp, and an echo of
   UDP, after his use of bench.

       sockets serve PORT [BUFFER]                          for ever
       sockets stream HOST PORT BYTES BUFFER SECONDS        bytes a second that the other end has received
       sockets echo HOST PORT BYTES TIMES                   nanoseconds of half a round trip, the median

   BUFFER is the size of the sockets' buffers in bytes; 0 leaves the system's. */
#define _GNU_SOURCE
#include "common/bench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LONGEST = 1 << 20, ECHO_MS = 1000 };

static long number(const char *text, long least, long most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < least || value > most) fail("%s is no number from %ld to %ld", text, least, most);
    return value;
}

static void set_buffers(int link, int bytes)
{
    if (bytes == 0) return;
    /* Linux doubles what it is told and keeps one half for its own needs, so that the window is what BSD's would be. */
    setsockopt(link, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(link, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

static int made(int type, int buffer)
{
    int link = socket(AF_INET, type, 0);
    if (link < 0) fail("no socket: %s", strerror(errno));
    set_buffers(link, buffer);
    return link;
}

static struct sockaddr_in address_of(const char *host, const char *port)
{
    struct addrinfo hints = { .ai_family = AF_INET }, *found;
    if (getaddrinfo(host, port, &hints, &found) != 0) fail("no host %s", host);
    struct sockaddr_in address = *(struct sockaddr_in *)found->ai_addr;
    freeaddrinfo(found);
    return address;
}

/* --- The end that serves --- */

/* Takes a whole stream, and says how many bytes it was. */
static void *take(void *argument)
{
    int link = (int)(intptr_t)argument;
    char *room = malloc(LONGEST);
    int64_t total = 0;
    ssize_t got;
    if (room == NULL) fail("no memory");
    while ((got = read(link, room, LONGEST)) > 0) total += got;
    if (write(link, &total, sizeof total) != sizeof total) fprintf(stderr, "sockets: a sender did not wait for its count\n");
    free(room);
    close(link);
    return NULL;
}

static void *echo_all(void *argument)
{
    int link = (int)(intptr_t)argument;
    static char room[LONGEST];
    for (;;) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(link, room, sizeof room, 0, (struct sockaddr *)&from, &length);
        if (got >= 0) sendto(link, room, (size_t)got, 0, (struct sockaddr *)&from, length);
    }
    return NULL;
}

static void serve(long port, int buffer)
{
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_ANY) };
    int stream = made(SOCK_STREAM, buffer), packets = made(SOCK_DGRAM, 0), on = 1;
    pthread_t thread;
    setsockopt(stream, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(stream, (struct sockaddr *)&own, sizeof own) != 0 || listen(stream, 64) != 0 || bind(packets, (struct sockaddr *)&own, sizeof own) != 0)
        fail("port %ld: %s", port, strerror(errno));
    if (pthread_create(&thread, NULL, echo_all, (void *)(intptr_t)packets) != 0) fail("no thread");
    puts("ready");
    fflush(stdout);
    for (;;) {
        int link = accept(stream, NULL, NULL);
        if (link < 0) continue;
        if (pthread_create(&thread, NULL, take, (void *)(intptr_t)link) != 0) fail("no thread");
        pthread_detach(thread);
    }
}

/* --- The end that measures --- */

static void stream(const struct sockaddr_in *to, size_t bytes, int buffer, double seconds)
{
    int link = made(SOCK_STREAM, buffer);
    char *data = calloc(bytes, 1);
    if (data == NULL) fail("no memory");
    if (connect(link, (const struct sockaddr *)to, sizeof *to) != 0) fail("no connection: %s", strerror(errno));
    int64_t begun = now_ns(), total, counted = 0;
    while (now_ns() - begun < (int64_t)(seconds * 1e9))
        for (size_t sent = 0; sent < bytes;) {
            ssize_t more = write(link, data + sent, bytes - sent);
            if (more < 0) fail("the stream broke: %s", strerror(errno));
            sent += (size_t)more;
        }
    /* The time ends when the other end has everything and says so. */
    shutdown(link, SHUT_WR);
    for (size_t got = 0; got < sizeof total;) {
        ssize_t more = read(link, (char *)&total + got, sizeof total - got);
        if (more <= 0) fail("the other end did not count");
        got += (size_t)more;
    }
    counted = total;
    printf("%.0f\n", (double)counted * 1e9 / (double)(now_ns() - begun));
}

static void echo(const struct sockaddr_in *to, size_t bytes, int times)
{
    int link = made(SOCK_DGRAM, 0), good = 0;
    static char data[LONGEST];
    int64_t *samples = malloc((size_t)times * sizeof *samples);
    if (samples == NULL) fail("no memory");
    if (connect(link, (const struct sockaddr *)to, sizeof *to) != 0) fail("no way there: %s", strerror(errno));
    for (int i = 0; i < times; i++) {
        struct pollfd wait = { .fd = link, .events = POLLIN };
        int64_t before = now_ns();
        if (send(link, data, bytes, 0) != (ssize_t)bytes) continue;
        /* A packet may be lost; that one does not count. */
        if (poll(&wait, 1, ECHO_MS) != 1 || recv(link, data, sizeof data, 0) != (ssize_t)bytes) continue;
        samples[good++] = (now_ns() - before) / 2;
    }
    if (good == 0) fail("nothing came back");
    printf("%.0f\n", median_of(samples, good));
}

int main(int argc, char **argv)
{
    program_is(argv[0]);
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "serve") == 0) {
        serve(number(argv[2], 1, 65535), argc == 4 ? (int)number(argv[3], 0, 1 << 30) : 0);
    } else if (argc == 7 && strcmp(argv[1], "stream") == 0) {
        struct sockaddr_in to = address_of(argv[2], argv[3]);
        stream(&to, (size_t)number(argv[4], 1, LONGEST), (int)number(argv[5], 0, 1 << 30), strtod(argv[6], NULL));
    } else if (argc == 6 && strcmp(argv[1], "echo") == 0) {
        struct sockaddr_in to = address_of(argv[2], argv[3]);
        echo(&to, (size_t)number(argv[4], 1, 65000), (int)number(argv[5], 1, 1000000));
    } else {
        fputs("usage: sockets serve PORT [BUFFER] | stream HOST PORT BYTES BUFFER SECONDS | echo HOST PORT BYTES TIMES\n", stderr);
        return 2;
    }
    return 0;
}
