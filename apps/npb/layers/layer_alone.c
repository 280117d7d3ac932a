/* One task, and nobody to talk to: the kernel by itself. */
#include "../layer.h"

void body_open(struct run *run, int *argc, char ***argv)
{
    run_read(run, *argc, *argv);
    if (run->options.tasks != 1) fail("built without messages, it has 1 task; --tasks says %d", run->options.tasks);
    run->task = 0;
    run->here = run->hosts = 1;
    run->face = "alone";
}

void body_close(void)
{
}

static _Noreturn void nobody(void)
{
    fail("a message was to be sent, and this program has no messages");
}

void body_send(int to, int tag, const double *values, size_t count)
{
    (void)to, (void)tag, (void)values, (void)count;
    nobody();
}

void body_recv(int from, int tag, double *values, size_t count)
{
    (void)from, (void)tag, (void)values, (void)count;
    nobody();
}

void body_exchange(int to, const double *out, size_t outs, int from, double *in, size_t ins, int tag)
{
    (void)to, (void)out, (void)outs, (void)from, (void)in, (void)ins, (void)tag;
    nobody();
}
