/* Lewis and Cline's measurements of PVM (1993) as a program: masters receive what slaves send, and echo it (ping-pong) or not
   (blast). Calls of PVM alone, so that one source runs on every PVM.

   The task that is started by hand directs: it reads who runs where, spawns masters and slaves, tells them what to do, and
   writes what the masters measured. Throughput is that of a master, from its word to its slaves to begin until it has seen
   every message, and counts what comes in and what goes out. */
#define _GNU_SOURCE
#include "../common/bench.h"
#include "pvmtime.h"

#include <pvm3.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG_ORDERS = 1, TAG_READY, TAG_BEGIN, TAG_GO, TAG_DATA, TAG_ECHO, TAG_TIME };
/* What a task is told once; the sizes and its partners follow. */
enum { ORDER_ROLE, ORDER_BLAST, ORDER_LEVEL, ORDER_MESSAGES, ORDER_FRAGMENT, ORDER_COMPUTE, ORDER_ENCODING, ORDER_DIRECT,
       ORDER_CORE, ORDER_SIZES, ORDER_PARTNERS, ORDERS };
/* Before each measurement so many messages of each slave are not timed: connections, memory. */
enum { WARM_UP = 32, WATCHDOG_SECONDS = 120 };

/* The one word that the director tells those it spawns. */
#define SPAWNED "--spawned"

static int ok(int result, const char *call)
{
    if (result < 0) fail("%s failed with code %d", call, result);
    return result;
}

/* --- A task under orders ------------------------------------------------------------------------------------------- */

struct task {
    int orders[ORDERS];
    int sizes[PVMTIME_SIZES_MAX];
    int partners[PVMTIME_TASKS_MAX];    /* a master's slaves, or a slave's one master */
    int director;
    int *data, *got;                    /* what is sent, what is unpacked */
};

static int element(int number, int place)
{
    return number + place * 7919;
}

/* Makes the message of this number the one that pvm_send sends. */
static void pack(const struct task *task, int number, int count)
{
    for (int i = 0; i < count; i++) task->data[i] = element(number, i);
    ok(pvm_initsend(task->orders[ORDER_ENCODING]), "pvm_initsend");
    ok(pvm_pkint(task->data, count, 1), "pvm_pkint");
}

/* Of each message that is packed anew only the number changes: filling it is the program's work, not PVM's. */
static void pack_again(const struct task *task, int number, int count)
{
    task->data[0] = element(number, 0);
    ok(pvm_initsend(task->orders[ORDER_ENCODING]), "pvm_initsend");
    ok(pvm_pkint(task->data, count, 1), "pvm_pkint");
}

static void unpack(const struct task *task, int count)
{
    ok(pvm_upkint(task->got, count, 1), "pvm_upkint");
}

/* The last message, whole: after the time was taken. Whoever did not pack anew sent number 0; a number below 0 is not known. */
static void verify(const struct task *task, int count, int number, int is_unpacked, const char *whose)
{
    if (!is_unpacked) unpack(task, count);
    if (number >= 0 && task->got[0] != element(number, 0))
        fail("verification failed: the %s's last message begins with %d, not %d", whose, task->got[0], element(number, 0));
    for (int i = 1; i < count; i++)
        if (task->got[i] != element(0, i))
            fail("verification failed: element %d of the %s's message is %d, sent %d", i, whose, task->got[i], element(0, i));
}

static void compute(int us)
{
    for (int64_t end = now_ns() + (int64_t)us * 1000; us > 0 && now_ns() < end;) continue;
}

/* A slave sends; in a ping-pong it waits for each echo. */
static void send_all(const struct task *task, int messages, int count)
{
    int level = task->orders[ORDER_LEVEL], master = task->partners[0], blast = task->orders[ORDER_BLAST];
    int packs = level & SLAVE_PACKS, unpacks = level & SLAVE_UNPACKS;
    ok(pvm_recv(master, TAG_GO), "pvm_recv");
    pack(task, 0, count);
    for (int i = 0; i < messages; i++) {
        compute(task->orders[ORDER_COMPUTE]);
        if (packs) pack_again(task, i, count);
        ok(pvm_send(master, TAG_DATA), "pvm_send");
        if (blast) continue;
        ok(pvm_recv(master, TAG_ECHO), "pvm_recv");
        if (unpacks) unpack(task, count);
    }
    if (!blast) verify(task, count, level & MASTER_PACKS ? -1 : 0, unpacks, "master");
}

/* A master receives what all its slaves send; gives the time from its word to begin. */
static int64_t receive_all(const struct task *task, int messages, int count)
{
    int level = task->orders[ORDER_LEVEL], slaves = task->orders[ORDER_PARTNERS], blast = task->orders[ORDER_BLAST];
    int packs = level & MASTER_PACKS, unpacks = level & MASTER_UNPACKS;
    int64_t before = now_ns();
    ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    ok(pvm_mcast((int *)task->partners, slaves, TAG_GO), "pvm_mcast");
    pack(task, 0, count);
    for (int left = messages * slaves; left > 0; left--) {
        int buffer = ok(pvm_recv(-1, TAG_DATA), "pvm_recv"), bytes, tag, from;
        if (unpacks) unpack(task, count);
        if (blast) continue;
        ok(pvm_bufinfo(buffer, &bytes, &tag, &from), "pvm_bufinfo");
        if (packs) pack_again(task, left, count);
        ok(pvm_send(from, TAG_ECHO), "pvm_send");
    }
    int64_t after = now_ns();
    /* The last to arrive is some slave's last, which bears the last number where slaves pack anew. */
    verify(task, count, level & SLAVE_PACKS ? messages - 1 : 0, unpacks, "slave");
    return after - before;
}

static void read_orders(struct task *task)
{
    ok(pvm_recv(task->director, TAG_ORDERS), "pvm_recv");
    ok(pvm_upkint(task->orders, ORDERS, 1), "pvm_upkint");
    ok(pvm_upkint(task->sizes, task->orders[ORDER_SIZES], 1), "pvm_upkint");
    ok(pvm_upkint(task->partners, task->orders[ORDER_PARTNERS], 1), "pvm_upkint");
    int core = task->orders[ORDER_CORE];
    if (core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(core, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0) fail("there is no core %d here", core);
    }
    ok(pvm_setopt(PvmRoute, task->orders[ORDER_DIRECT] ? PvmRouteDirect : PvmDontRoute), "pvm_setopt");
    if (task->orders[ORDER_FRAGMENT] > 0) ok(pvm_setopt(PvmFragSize, task->orders[ORDER_FRAGMENT]), "pvm_setopt");
    int most = 0;
    for (int i = 0; i < task->orders[ORDER_SIZES]; i++)
        if (task->sizes[i] > most) most = task->sizes[i];
    task->data = malloc((size_t)most);
    task->got = calloc((size_t)most, 1);
    if (task->data == NULL || task->got == NULL) fail("no memory for messages of %d bytes", most);
}

static void work(int director)
{
    struct task task = { .director = director };
    read_orders(&task);
    int is_master = task.orders[ORDER_ROLE];
    for (int i = 0; i < task.orders[ORDER_SIZES]; i++) {
        int count = task.sizes[i] / 4, messages = task.orders[ORDER_MESSAGES];
        /* All are ready before any begins, so that all masters are under way together. */
        ok(pvm_initsend(PvmDataDefault), "pvm_initsend");
        ok(pvm_send(director, TAG_READY), "pvm_send");
        ok(pvm_recv(director, TAG_BEGIN), "pvm_recv");
        if (!is_master) {
            send_all(&task, WARM_UP, count);
            send_all(&task, messages, count);
            continue;
        }
        receive_all(&task, WARM_UP, count);
        double elapsed = (double)receive_all(&task, messages, count);
        ok(pvm_initsend(PvmDataDefault), "pvm_initsend");
        ok(pvm_pkdouble(&elapsed, 1, 1), "pvm_pkdouble");
        ok(pvm_send(director, TAG_TIME), "pvm_send");
    }
    /* Whoever ended before the others were done would pass for one that failed. */
    ok(pvm_recv(director, TAG_BEGIN), "pvm_recv");
}

/* --- The director -------------------------------------------------------------------------------------------------- */

struct company {
    struct place places[PVMTIME_TASKS_MAX];
    int tids[PVMTIME_TASKS_MAX];
    int count, masters;
};

static void end_all(struct company *company, int started)
{
    for (int i = 0; i < started; i++) pvm_kill(company->tids[i]);
    pvm_exit();
}

/* Starts each task where its line says. */
static void spawn_all(const struct pvmtime *told, struct company *company)
{
    static char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail("cannot find this program's own file");
    path[length] = '\0';
    char *words[] = { SPAWNED, NULL };
    for (int i = 0; i < company->count; i++) {
        struct place *place = &company->places[i];
        int started = pvm_spawn(path, words, PvmTaskHost, place->host, 1, &company->tids[i]);
        if (started != 1) {
            end_all(company, i);
            const char *why = company->tids[i] == PvmNoHost || started == PvmNoHost ? "no such host in the virtual machine" : "the task was not started";
            fail("%s, line %d: host \"%s\": %s (code %d)", told->config != NULL ? told->config : "no configuration", place->line, place->host, why,
                 started < 0 ? started : company->tids[i]);
        }
        company->masters += place->is_master;
    }
}

/* A master's slaves, a slave's master. */
static int partners(const struct company *company, int at, int *tids)
{
    const struct place *own = &company->places[at];
    int count = 0;
    for (int i = 0; i < company->count; i++)
        if (company->places[i].master == own->master && company->places[i].is_master != own->is_master) tids[count++] = company->tids[i];
    return count;
}

static void order_all(const struct pvmtime *told, struct company *company)
{
    int sizes[PVMTIME_SIZES_MAX], tids[PVMTIME_TASKS_MAX];
    for (int i = 0; i < told->size_count; i++) sizes[i] = (int)told->sizes[i];
    for (int i = 0; i < company->count; i++) {
        int others = partners(company, i, tids);
        int orders[ORDERS] = { company->places[i].is_master, told->blast, told->level, told->messages, told->fragment, told->compute_us,
                               told->encoding, told->direct, company->places[i].core, told->size_count, others };
        ok(pvm_initsend(PvmDataDefault), "pvm_initsend");
        ok(pvm_pkint(orders, ORDERS, 1), "pvm_pkint");
        ok(pvm_pkint(sizes, told->size_count, 1), "pvm_pkint");
        ok(pvm_pkint(tids, others, 1), "pvm_pkint");
        ok(pvm_send(company->tids[i], TAG_ORDERS), "pvm_send");
    }
    ok(pvm_notify(PvmTaskExit, TAG_TIME + 1, company->count, company->tids), "pvm_notify");
}

/* Receives a message of this kind, unless a task has ended, which then said why. */
static void await(int tag)
{
    while (ok(pvm_probe(-1, tag), "pvm_probe") == 0) {
        struct timeval little = { .tv_usec = 2000 };
        if (pvm_probe(-1, TAG_TIME + 1) > 0) fail("a task ended before its time");
        if (ok(pvm_trecv(-1, tag, &little), "pvm_trecv") > 0) return;
    }
    ok(pvm_recv(-1, tag), "pvm_recv");
}

static void measure(FILE *out, const struct pvmtime *told, struct company *company, size_t size)
{
    int64_t elapsed[PVMTIME_TASKS_MAX];
    int slaves = company->count - company->masters;
    for (int i = 0; i < company->count; i++) await(TAG_READY);
    ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    ok(pvm_mcast(company->tids, company->count, TAG_BEGIN), "pvm_mcast");
    for (int i = 0; i < company->masters; i++) {
        double value;
        await(TAG_TIME);
        ok(pvm_upkdouble(&value, 1, 1), "pvm_upkdouble");
        elapsed[i] = (int64_t)value;
    }
    /* All masters have the same number of slaves in the laboratory's configurations; else this is a mean master's. */
    double moved = (double)size * told->messages * slaves / company->masters * (told->blast ? 1 : 2);
    fprintf(out, "{\"program\":\"pvmtime\",\"face\":\"pvm\",\"tasks\":%d,\"size\":%zu,\"moved\":%.0f,\"verified\":true,", company->count, size, moved);
    samples_array(out, "samples_ns", elapsed, company->masters);
    fputs("}\n", out);
}

static void direct(int argc, char **argv)
{
    static struct company company;
    struct pvmtime told;
    pvmtime_options(&told, argc, argv);
    company.count = pvmtime_places(&told, company.places);
    ok(pvm_mytid(), "pvm_mytid");
    FILE *out = samples_open(&(struct options){ .out = told.out });
    spawn_all(&told, &company);
    order_all(&told, &company);
    for (int i = 0; i < told.size_count; i++) measure(out, &told, &company, told.sizes[i]);
    ok(pvm_initsend(PvmDataRaw), "pvm_initsend");
    ok(pvm_mcast(company.tids, company.count, TAG_BEGIN), "pvm_mcast");
    samples_close(out);
}

int main(int argc, char **argv)
{
    alarm(WATCHDOG_SECONDS);
    program_is(argv[0]);
    if (argc == 2 && strcmp(argv[1], SPAWNED) == 0) work(ok(pvm_parent(), "pvm_parent"));
    else direct(argc, argv);
    pvm_exit();
    return 0;
}
