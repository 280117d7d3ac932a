/* LU, SP or BT of a class, measured and verified as NPB says: one step that is not counted, the state set back, all steps, the check. */
#define _GNU_SOURCE
#include "layer.h"
#include "npb.h"

#include <math.h>
#include <unistd.h>

static void (*const step_of[3])(struct field *) = { lu_step, sp_step, bt_step };

static const struct class *class_of(const struct run *run)
{
    size_t n = run->options.sizes[0];
    const struct class *class = class_find(run->benchmark, run->class, (int)n);
    if (class == NULL) fail("no class of %s has %zu points each way; --class takes S, W, A or B", benchmark_names[run->benchmark], n);
    return class;
}

/* What a wrong byte could do: one value of the last task is off by so much, relatively. */
static void perturb(struct field *field, const struct run *run)
{
    const struct grid *grid = &field->grid;
    if (run->task != run->options.tasks - 1) return;
    int at[3];
    for (int d = 0; d < 3; d++) at[d] = (grid->low[d] + grid->high[d]) / 2;
    field->u[cell_at(grid, at[0], at[1], at[2])][0] *= 1 + run->perturb;
}

static struct taken measured(struct field *field, const struct run *run)
{
    int iterations = field->class->iterations;
    layer_barrier(run);
    struct traffic before = traffic_now();
    int64_t begun = now_ns(), processor = processor_ns();
    for (int iteration = 0; iteration < iterations; iteration++) {
        if (run->perturb != 0 && iteration == iterations / 2) perturb(field, run);
        step_of[run->benchmark](field);
    }
    struct traffic after = traffic_now();
    double most[2] = { (double)(now_ns() - begun) / 1e9, (double)(after.ns - before.ns) / 1e9 };
    double sums[7] = { most[1],
                       (double)(after.processor_ns - before.processor_ns) / 1e9,
                       (double)(processor_ns() - processor) / 1e9,
                       (double)(after.messages - before.messages),
                       (double)(after.bytes - before.bytes),
                       (double)(after.halo_messages - before.halo_messages),
                       (double)(after.halo_bytes - before.halo_bytes) };
    layer_most(run, most, 2);
    layer_sum(run, sums, 7);
    int cores = run->options.cpu_count ? run->options.cpu_count : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > run->options.tasks) cores = run->options.tasks;
    double beyond = most[0] - (sums[2] - sums[1]) / cores;
    return (struct taken){ .cores = cores, .beyond = beyond > 0 ? beyond : 0, .seconds = most[0], .layer = most[1], .layer_mean = sums[0] / run->options.tasks, .processor = sums[1],
                           .processor_all = sums[2], .messages = sums[3], .bytes = sums[4], .halo_messages = sums[5],
                           .halo_bytes = sums[6] };
}

/* Norms of all tasks. */
static struct outcome checked(struct field *field, const struct run *run)
{
    if (run->benchmark != LU) refresh(field);
    struct outcome mine = outcome_of(field);
    double values[11], n = field->grid.n, h = 1 / (n - 1);
    for (int m = 0; m < 5; m++) values[m] = mine.residual[m], values[5 + m] = mine.error[m];
    values[10] = mine.surface;
    layer_sum(run, values, 11);
    for (int m = 0; m < 5; m++) {
        mine.residual[m] = sqrt(values[m] / pow(n - 2, 3));
        mine.error[m] = sqrt(values[5 + m] / pow(n - 2, 3));
    }
    mine.surface = h * h / 4 * values[10];
    return mine;
}

int main(int argc, char **argv)
{
    struct run run;
    struct field field = { .groups = 0 };
    body_open(&run, &argc, &argv);
    pin_task(&run.options, run.task);
    field.class = class_of(&run);
    field.groups = run.groups;
    grid_split(&field.grid, field.class->benchmark, field.class->n, run.options.tasks, run.task);
    field_open(&field, run.here);

    set_forcing(&field);
    set_initial(&field);
    if (run.benchmark == LU) refresh(&field);
    step_of[run.benchmark](&field);
    set_initial(&field);
    if (run.benchmark == LU) refresh(&field);

    struct taken taken = measured(&field, &run);
    struct outcome outcome = checked(&field, &run);
    double worst = worst_difference(field.class, &outcome);
    if (run.task == 0) report(&run, &field, &outcome, &taken);
    layer_barrier(&run);
    field_close(&field);
    body_close();
    /* One task tells. */
    return run.task != 0 || worst <= AGREEMENT ? 0 : 1;
}
