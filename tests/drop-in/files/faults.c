/* Calls each function with one argument wrong at a time, and prints what it returns and whether it says so.
 *
 * Each call has a process of its own: where a library crashes or waits for ever, that is its answer. Linked with
 * Debian's library; run on both. */
#include <pvm3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 0x40fff /* A task that never was. */
#define HOST 0x40000   /* The daemon of the first host. */
#define NO_HOST 0x7c0000
#define GROUP_BIT 0x40000000
#define WAIT 2 /* Seconds after which a call counts as waiting for ever. */

static int me, ints[64], *list, number;
static char bytes[4096], long_name[2000], *strings[] = {"no.such.host.invalid", 0};
static double doubles[64];
static long longs[64];
static short shorts[64];
static float floats[64];
static struct timeval soon = {0, 1000}, odd = {-1, -1}, when;
static struct pvmhostinfo *hosts;
static struct pvmtaskinfo *tasks;
static struct pvmmboxinfo *classes;
static struct pvmminfo info;

static int handler(int mid) { return mid; }

/* A message in the send buffer, and one received. */
static void prepare(void)
{
    memset(long_name, 'n', sizeof long_name - 1);
    me = pvm_mytid();
    pvm_initsend(PvmDataDefault);
    pvm_pkint(ints, 4, 1);
    pvm_pkstr("text");
    pvm_send(me, 3);
    pvm_recv(me, 3);
}

static int packed(int encoding) { return pvm_initsend(encoding) < 0 ? -1 : pvm_pkint(ints, 1, 1); }
static int empty(void) { pvm_setsbuf(0); return pvm_setrbuf(0), 0; }
static int joined(void) { return pvm_joingroup("faults"), 0; }

/* Runs call number `which`; without a function, names it. */
static int call(int which, const char **name)
{
    int n = 0, result = 0;
#define T(expression)                                                                                                  \
    if (which == n++) {                                                                                                \
        *name = #expression;                                                                                           \
        if (number < 0) return 0;                                                                                      \
        result = (expression);                                                                                         \
        return result;                                                                                                 \
    }
#include "faults.h"
    *name = 0;
    return 0;
}

/* In a process of its own: what it returns goes to `out`; what the library says, to standard error. */
static void alone(int which, int out)
{
    const char *name;
    int result;

    alarm(10);
    prepare();
    /* What preparing said is of no interest. */
    write(2, "\001", 1);
    alarm(WAIT);
    result = call(which, &name);
    write(out, &result, sizeof result);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *name;
    int which;

    setvbuf(stdout, 0, _IOLBF, 0);
    if (argc == 3) alone(atoi(argv[1]), atoi(argv[2]));
    for (which = 0;; which++) {
        int results[2], errors[2], status, result, got, length = 0;
        char said[4096], *text;
        pid_t child;

        number = -1;
        call(which, &name);
        if (!name) break;
        number = which;
        if (pipe(results) || pipe(errors)) return 1;
        child = fork();
        if (child == 0) {
            char at[16], to[16];
            sprintf(at, "%d", which);
            sprintf(to, "%d", results[1]);
            dup2(errors[1], 2);
            close(errors[1]);
            execl("/proc/self/exe", argv[0], at, to, (char *)0);
            _exit(127);
        }
        close(results[1]);
        close(errors[1]);
        while ((got = read(errors[0], said + length, sizeof said - 1 - length)) > 0) length += got;
        said[length] = 0;
        waitpid(child, &status, 0);
        printf("%s => ", name);
        if (read(results[0], &result, sizeof result) == sizeof result) printf("%d", result > 0 ? 1 : result);
        else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) printf("waits");
        else if (WIFSIGNALED(status)) printf("crashes");
        else printf("exits");
        text = strchr(said, 1);
        text = text ? strstr(text, "(): ") : 0;
        if (text) printf(", says: %.*s", (int)strcspn(text + 4, "\n"), text + 4);
        printf("\n");
        close(results[0]);
        close(errors[0]);
    }
    return 0;
}
