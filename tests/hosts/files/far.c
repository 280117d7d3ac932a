/* What messages between two hosts, or from one to many, cost any PVM program.
 *
 *     far pingpong direct|routed BYTES TIMES HOST     microseconds of half a round trip
 *     far stream   direct|routed BYTES TIMES HOST     megabits per second, one way
 *     far mcast    direct|routed|default BYTES TIMES HOST ... milliseconds from pvm_mcast to the last answer
 *
 * A copy of the program is started on each HOST.
 */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, WARM = 20, DATA = 1, ANSWER = 2 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void check(int code, const char *what)
{
    if (code < 0) {
        fprintf(stderr, "far: %s: %d\n", what, code);
        pvm_exit();
        exit(1);
    }
}

static void pack(char *data, int bytes)
{
    check(pvm_initsend(PvmDataInPlace), "pvm_initsend");
    check(pvm_pkbyte(data, bytes, 1), "pvm_pkbyte");
}

static void take(int from, int tag, char *data, int bytes)
{
    check(pvm_recv(from, tag), "pvm_recv");
    check(pvm_upkbyte(data, bytes, 1), "pvm_upkbyte");
}

/* The copy: answers each message, or the last of a stream. */
static void serve(int parent, int each, char *data, int bytes, int times)
{
    for (int at = -WARM; at < times; at++) {
        take(parent, DATA, data, bytes);
        if (each || at == -1 || at == times - 1) {
            pack(data, each == 1 ? bytes : 1);
            check(pvm_send(parent, ANSWER), "pvm_send");
        }
    }
}

static double pingpong(int to, char *data, int bytes, int times)
{
    double began = 0;

    for (int at = -WARM; at < times; at++) {
        if (at == 0)
            began = now();
        pack(data, bytes);
        check(pvm_send(to, DATA), "pvm_send");
        take(to, ANSWER, data, bytes);
    }
    return (now() - began) / times / 2 * 1e6;
}

static double stream(int to, char *data, int bytes, int times)
{
    double began = 0;
    char answer;

    for (int at = -WARM; at < times; at++) {
        if (at == 0) {
            take(to, ANSWER, &answer, 1);
            began = now();
        }
        pack(data, bytes);
        check(pvm_send(to, DATA), "pvm_send");
    }
    take(to, ANSWER, &answer, 1);
    return (double)bytes * times * 8 / (now() - began) / 1e6;
}

static double multicast(int *tids, int count, char *data, int bytes, int times)
{
    double began = 0;
    char answer;

    for (int at = -WARM; at < times; at++) {
        if (at == 0)
            began = now();
        pack(data, bytes);
        check(pvm_mcast(tids, count, DATA), "pvm_mcast");
        for (int each = 0; each < count; each++)
            take(-1, ANSWER, &answer, 1);
    }
    return (now() - began) / times * 1e3;
}

int main(int argc, char **argv)
{
    int bytes = argc > 4 ? atoi(argv[3]) : 0, times = argc > 4 ? atoi(argv[4]) : 0;
    int count = argc - 5, tids[MOST], length;
    char self[512], *words[] = { "", "", "", "", NULL }, *data;

    if (bytes < 1 || times < 1 || count > MOST || (data = calloc(1, (size_t)bytes)) == NULL)
        return 2;
    check(pvm_mytid(), "pvm_mytid");
    if (strcmp(argv[2], "default") != 0)
        pvm_setopt(PvmRoute, strcmp(argv[2], "direct") == 0 ? PvmRouteDirect : PvmDontRoute);
    if (count < 1) { /* a copy; an answer of one byte each is what a multicast gets */
        serve(pvm_parent(), argv[1][0] == 'p' ? 1 : argv[1][0] == 'm' ? 2 : 0, data, bytes, times);
        pvm_exit();
        return 0;
    }
    length = (int)readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    for (int at = 0; at < 4; at++)
        words[at] = argv[at + 1];
    for (int at = 0; at < count; at++)
        if (pvm_spawn(self, words, PvmTaskHost, argv[5 + at], 1, &tids[at]) != 1)
            check(tids[at] < 0 ? tids[at] : -1, "pvm_spawn");
    printf("%.3f\n", argv[1][0] == 'p'   ? pingpong(tids[0], data, bytes, times)
                     : argv[1][0] == 's' ? stream(tids[0], data, bytes, times)
                                         : multicast(tids, count, data, bytes, times));
    pvm_exit();
    return 0;
}
