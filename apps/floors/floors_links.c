/* The kernel's links between two processes: a unix socket and TCP on the loopback interface. */
#define _GNU_SOURCE
#include "floors.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void write_all(int link, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(link, data, bytes);
        if (done <= 0) fail("a link broke while writing");
        data += done;
        bytes -= (size_t)done;
    }
}

static void read_all(int link, char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = read(link, data, bytes);
        if (done <= 0) fail("a link broke while reading");
        data += done;
        bytes -= (size_t)done;
    }
}

static void echo(int link, char *data, size_t bytes, int messages)
{
    for (int i = 0; i < messages; i++) {
        read_all(link, data, bytes);
        write_all(link, data, bytes);
    }
}

static int64_t round_trip(int link, double *data, size_t bytes)
{
    int64_t begun = now_ns();
    data[0] += 1;
    write_all(link, (char *)data, bytes);
    read_all(link, (char *)data, bytes);
    return now_ns() - begun;
}

static void lead(struct floors *floors, const char *floor, int link)
{
    const struct options *options = floors->options;
    int64_t *samples = calloc((size_t)options->most, sizeof *samples);
    if (samples == NULL) fail("no memory for samples");
    for (int i = 0; i < options->size_count; i++) {
        size_t bytes = options->sizes[i];
        if (bytes == 0) continue;
        double *data = doubles(bytes / sizeof(double));
        int warm = 5, agreed[2] = { (int)bytes, warm };
        write_all(link, (char *)agreed, sizeof agreed);
        for (int k = 0; k < warm; k++) samples[0] = round_trip(link, data, bytes);
        int count = floor_samples(options, (double)samples[0]);
        agreed[1] = count;
        write_all(link, (char *)agreed, sizeof agreed);
        for (int k = 0; k < count; k++) samples[k] = round_trip(link, data, bytes);
        floor_report(floors, floor, bytes, 2, samples, count);
        free(data);
    }
    write_all(link, (char[2 * sizeof(int)]){ 0 }, 2 * sizeof(int));
    free(samples);
}

static _Noreturn void follow(int link)
{
    int agreed[2];
    for (;;) {
        read_all(link, (char *)agreed, sizeof agreed);
        if (agreed[0] == 0) _exit(0);
        double *data = doubles((size_t)agreed[0] / sizeof(double));
        echo(link, (char *)data, (size_t)agreed[0], agreed[1]);
        free(data);
    }
}

void floor_unix_socket(struct floors *floors)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("no unix socket pair");
    int child = floor_fork(floors->options, 0);
    if (child == 0) {
        close(ends[0]);
        follow(ends[1]);
    }
    close(ends[1]);
    lead(floors, "unix socket", ends[0]);
    close(ends[0]);
    floor_join(child);
}

void floor_loopback(struct floors *floors)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), at_once = 1;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fail("cannot listen on the loopback interface");
    int child = floor_fork(floors->options, 0);
    int link = child == 0 ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
    if (link < 0 || (child == 0 && connect(link, (struct sockaddr *)&address, length) != 0))
        fail("no connection on the loopback interface");
    setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    if (child == 0) follow(link);
    lead(floors, "loopback tcp", link);
    close(link);
    close(listener);
    floor_join(child);
}
