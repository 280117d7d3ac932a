#define _GNU_SOURCE
#include "counter.h"
#include "bench.h"

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IDLE, WANTED, ATTACHED, REFUSED };

/* Shared with the process that steps. */
struct shared {
    _Atomic int state;
    _Atomic int64_t instructions, calls;
    int why;                /* errno of a refusal */
};

static struct shared *shared;
static pid_t stepper;
static int orders[2] = { -1, -1 };     /* a byte: attach */
static int misses = -1;

#if defined(__x86_64__)
static uint64_t place(const struct user_regs_struct *registers) { return registers->rip; }
static int is_call(long word) { return (word & 0xffff) == 0x050f; }
#elif defined(__aarch64__)
static uint64_t place(const struct user_regs_struct *registers) { return registers->pc; }
static int is_call(long word) { return (word & 0xffffffff) == 0xd4000001; }
#else
#error "counter.c knows the system call instruction of x86-64 and of AArch64"
#endif

/* The address of the next instruction; 0 if the kernel does not tell. */
static uint64_t where(pid_t thread)
{
    struct user_regs_struct registers;
    struct iovec vector = { &registers, sizeof registers };
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &vector) != 0) return 0;
    return place(&registers);
}

/* Steps until the thread no longer wants it. A repeated string instruction stops after each repetition and counts once. */
static void step(pid_t thread)
{
    uint64_t here = where(thread);
    long signal = 0;
    while (atomic_load(&shared->state) == ATTACHED) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKTEXT, thread, (void *)here, NULL);
        if (errno == 0 && is_call(word)) atomic_fetch_add(&shared->calls, 1);
        if (ptrace(PTRACE_SINGLESTEP, thread, NULL, (void *)signal) != 0) return;
        int status;
        if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return;
        signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        uint64_t now = where(thread);
        if (now != here) atomic_fetch_add(&shared->instructions, 1);
        here = now;
    }
    ptrace(PTRACE_DETACH, thread, NULL, (void *)signal);
}

static void attach(pid_t thread)
{
    int status;
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) {
        shared->why = errno;
        atomic_store(&shared->state, REFUSED);
        return;
    }
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) return;
    atomic_store(&shared->state, ATTACHED);
    step(thread);
}

/* The life of the process that steps: it ends with the program, or when the program closes the pipe. */
static void serve(pid_t program)
{
    char order;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != program) _exit(0);
    while (read(orders[0], &order, 1) == 1) attach(program);
    _exit(0);
}

static int perf_open(uint64_t config)
{
    struct perf_event_attr wanted = { .type = PERF_TYPE_HARDWARE, .size = sizeof wanted, .config = config, .exclude_kernel = 1,
                                      .exclude_hv = 1 };
    return (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void counter_open(void)
{
    pid_t program = getpid();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("no memory for counting: %s", strerror(errno));
    if (pipe(orders) != 0) fail("no pipe for counting: %s", strerror(errno));
    stepper = fork();
    if (stepper < 0) fail("no process for counting: %s", strerror(errno));
    if (stepper == 0) {
        close(orders[1]);
        serve(program);
    }
    close(orders[0]);
    /* Yama lets a process be traced by its ancestors alone, unless it names somebody. */
    prctl(PR_SET_PTRACER, stepper, 0, 0, 0);
    misses = perf_open(PERF_COUNT_HW_CACHE_MISSES);
}

void counter_attach(void)
{
    atomic_store(&shared->state, WANTED);
    if (write(orders[1], "a", 1) != 1) fail("the process that counts has ended");
    for (;;) {
        int state = atomic_load(&shared->state);
        if (state == ATTACHED) return;
        if (state == REFUSED) fail("the kernel refuses to count instructions (ptrace): %s", strerror(shared->why));
        /* The other process needs some ten microseconds to attach. Waiting here is outside of what is counted. */
        usleep(100);
    }
}

void counter_detach(void)
{
    atomic_store(&shared->state, IDLE);
}

struct counter counter_now(void)
{
    return (struct counter){ atomic_load(&shared->instructions), atomic_load(&shared->calls), -1 };
}

int64_t counter_misses(void)
{
    int64_t value;
    return misses >= 0 && read(misses, &value, sizeof value) == sizeof value ? value : -1;
}

void counter_close(void)
{
    close(orders[1]);
    waitpid(stepper, NULL, 0);
    if (misses >= 0) close(misses);
}
