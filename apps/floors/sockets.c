/* What a network gives to sockets, without any message-passing system: a stream of TCP, after Fatoohi's use of ttcp, and an echo of
   UDP, after his use of bench.

       sockets serve PORT [BUFFER]                          for ever
       sockets stream HOST PORT BYTES BUFFER SECONDS        bytes a second that the other end has received
       sockets echo HOST PORT BYTES TIMES                   nanoseconds of half a round trip, the median
       sockets OPTIONS                                      an experiment on this host, for the laboratory, which reads its samples

   Experiments (--operations): message, buffer (sizes are those of the sockets' buffers), both, pairs, echo. BUFFER is the size of the sockets' buffers in bytes; 0 leaves the system's. */
#define _GNU_SOURCE
#include "../common/bench.h"

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

/* --- An experiment on one host: a child at the other end, over the loopback --- */

enum { MESSAGE = 32768, BLOCK_MS = 5 };

/* What a stream is read and thrown away by, on a core of its own. */
struct drain {
    int link;
    size_t bytes;           /* of a message */
    const struct options *options;
    int task;
    _Atomic int64_t got;
};

/* Contents by their place in a message: a byte that is lost or doubled shifts all that follow. */
static char content_at(size_t place)
{
    return (char)(place * 31 + (place >> 8) + 7);
}

static void *drain_all(void *argument)
{
    struct drain *drain = argument;
    char *room = malloc(LONGEST);
    ssize_t got;
    if (room == NULL) fail("no memory");
    pin_task(drain->options, drain->task);
    size_t place = 0;
    while ((got = read(drain->link, room, LONGEST)) > 0) {
        size_t last = (place + (size_t)got - 1) % drain->bytes;
        /* Both ends of what has come; looking at all of it would be what is measured. */
        if (room[0] != content_at(place) || room[got - 1] != content_at(last)) fail("verification failed at byte %zu or %zu of a message", place, last);
        place = (last + 1) % drain->bytes;
        drain->got += got;
    }
    free(room);
    close(drain->link);
    return NULL;
}

/* A connection over the loopback whose other end drains. */
static int connected(struct drain *drain, int buffer, pthread_t *thread)
{
    int listener = made(SOCK_STREAM, buffer), link = made(SOCK_STREAM, buffer);
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof own;
    if (bind(listener, (struct sockaddr *)&own, sizeof own) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&own, &length) != 0 || connect(link, (struct sockaddr *)&own, sizeof own) != 0)
        fail("no connection over the loopback: %s", strerror(errno));
    drain->link = accept(listener, NULL, NULL);
    close(listener);
    if (drain->link < 0 || pthread_create(thread, NULL, drain_all, drain) != 0) fail("nobody receives");
    return link;
}

struct flow {
    const struct options *options;
    int task;               /* the sender's; the receiver is the next */
    size_t bytes;
    int buffer;
    int samples;
    int64_t *times;         /* of a message, in blocks of BLOCK_MS */
};

/* Sends blocks of messages. A block ends when all of it has been received: what lies in buffers was not passed yet. */
static void *send_flow(void *argument)
{
    struct flow *flow = argument;
    struct drain drain = { .bytes = flow->bytes, .options = flow->options, .task = flow->task + 1 };
    pthread_t receiver;
    int link = connected(&drain, flow->buffer, &receiver);
    char *data = calloc(flow->bytes, 1);
    if (data == NULL) fail("no memory");
    for (size_t i = 0; i < flow->bytes; i++) data[i] = content_at(i);
    pin_task(flow->options, flow->task);
    int64_t sent = 0;
    for (int sample = -1; sample < flow->samples; sample++) {
        int64_t begun = now_ns(), messages = 0;
        do {
            for (size_t done = 0; done < flow->bytes;) {
                ssize_t more = write(link, data + done, flow->bytes - done);
                if (more < 0) fail("the stream broke: %s", strerror(errno));
                done += (size_t)more;
            }
            messages++;
        } while (now_ns() - begun < (int64_t)BLOCK_MS * 1000000);
        sent += messages * (int64_t)flow->bytes;
        while (drain.got < sent) continue;
        if (sample >= 0) flow->times[sample] = (now_ns() - begun) / messages;
    }
    close(link);
    pthread_join(receiver, NULL);
    free(data);
    return NULL;
}

static void write_line(FILE *out, int tasks, size_t size, const int64_t *times, int count, int hops)
{
    fprintf(out, "{\"program\":\"sockets\",\"tasks\":%d,\"size\":%zu,\"hops\":%d,", tasks, size, hops);
    samples_array(out, "samples_ns", times, count);
    fputs("}\n", out);
}

/* One flow, or two at the same time: the other way between the same two cores, or the same way between others. */
static void flows(FILE *out, const struct options *options, const char *experiment, size_t size)
{
    int by_buffer = strcmp(experiment, "buffer") == 0, both = strcmp(experiment, "both") == 0, pairs = strcmp(experiment, "pairs") == 0;
    int count = both || pairs ? 2 : 1, samples = options->least;
    int64_t *times = calloc((size_t)(2 * samples), sizeof *times);
    if (times == NULL) fail("no memory");
    struct flow flow[2];
    pthread_t senders[2];
    for (int i = 0; i < count; i++) {
        flow[i] = (struct flow){ .options = options, .task = both ? i : 2 * i, .bytes = by_buffer ? MESSAGE : size,
                                 .buffer = by_buffer ? (int)size : 0, .samples = samples, .times = times + i * samples };
        if (pthread_create(&senders[i], NULL, send_flow, &flow[i]) != 0) fail("no thread");
    }
    for (int i = 0; i < count; i++) pthread_join(senders[i], NULL);
    write_line(out, 2 * (pairs ? 2 : 1), size, times, count * samples, 1);
    free(times);
}

/* Round trips of one packet between two cores. */
static void echoes(FILE *out, const struct options *options, size_t size)
{
    int here = made(SOCK_DGRAM, 0), there = made(SOCK_DGRAM, 0), count = options->most;
    struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof own;
    pthread_t thread;
    static char data[LONGEST];
    int64_t *times = calloc((size_t)count, sizeof *times);
    if (times == NULL) fail("no memory");
    if (bind(there, (struct sockaddr *)&own, sizeof own) != 0 || getsockname(there, (struct sockaddr *)&own, &length) != 0 ||
        connect(here, (struct sockaddr *)&own, sizeof own) != 0)
        fail("no packets over the loopback: %s", strerror(errno));
    /* It is pinned as whoever starts it. */
    pin_task(options, 1);
    if (pthread_create(&thread, NULL, echo_all, (void *)(intptr_t)there) != 0) fail("no thread");
    pin_task(options, 0);
    for (int i = -100; i < count; i++) {
        int64_t before = now_ns();
        data[0] = content_at((size_t)(i + 100));
        if (send(here, data, size, 0) < 0 || recv(here, data, sizeof data, 0) != (ssize_t)size) fail("a packet did not come back whole: %s", strerror(errno));
        if (data[0] != content_at((size_t)(i + 100))) fail("verification failed: another packet came back");
        if (i >= 0) times[i] = now_ns() - before;
    }
    write_line(out, 2, size, times, count, 2);
    free(times);
}

static void experiment(int argc, char **argv)
{
    struct options options;
    options_read(&options, argc, argv);
    const char *name = options.operations;
    FILE *out = samples_open(&options);
    for (int i = 0; i < options.size_count; i++) {
        if (strcmp(name, "echo") == 0) echoes(out, &options, options.sizes[i]);
        else if (strcmp(name, "message") == 0 || strcmp(name, "buffer") == 0 || strcmp(name, "both") == 0 || strcmp(name, "pairs") == 0)
            flows(out, &options, name, options.sizes[i]);
        else fail("--operations is message, buffer, both, pairs or echo, not %s", name);
    }
    samples_close(out);
}

int main(int argc, char **argv)
{
    program_is(argv[0]);
    if (argc > 1 && strncmp(argv[1], "--", 2) == 0) {
        experiment(argc, argv);
        return 0;
    }
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "serve") == 0) {
        serve(number(argv[2], 1, 65535), argc == 4 ? (int)number(argv[3], 0, 1 << 30) : 0);
    } else if (argc == 7 && strcmp(argv[1], "stream") == 0) {
        struct sockaddr_in to = address_of(argv[2], argv[3]);
        stream(&to, (size_t)number(argv[4], 1, LONGEST), (int)number(argv[5], 0, 1 << 30), strtod(argv[6], NULL));
    } else if (argc == 6 && strcmp(argv[1], "echo") == 0) {
        struct sockaddr_in to = address_of(argv[2], argv[3]);
        echo(&to, (size_t)number(argv[4], 1, 65000), (int)number(argv[5], 1, 1000000));
    } else {
        fputs("usage: sockets --operations EXPERIMENT [--sizes LIST] [--least SAMPLES] [--cpus LIST] [--out FILE]\n       sockets serve PORT [BUFFER] | stream HOST PORT BYTES BUFFER SECONDS | echo HOST PORT BYTES TIMES\n", stderr);
        return 2;
    }
    return 0;
}
