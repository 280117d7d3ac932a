/* What a run says: a page for a person, or a line of samples for the laboratory. */
#include "layer.h"
#include "npb.h"

#include <ctype.h>
#include <string.h>

static void line(const char *name, int m, double value, double reference)
{
    double off = difference(value, reference);
    printf("  %-10s%d  %22.14e  %22.14e  %9.1e  %s\n", name, m, value, reference, off, off <= AGREEMENT ? "agrees" : "DIFFERS");
}

static double operations(const struct class *class)
{
    double n = class->n;
    switch (class->benchmark) {
    case LU: return ((1984.77 * n - 10923.3) * n + 27770.9) * n - 144010;
    case SP: return ((881.174 * n - 4683.91) * n + 11484.5) * n - 19272.4;
    default: return ((3478.8 * n - 17655.7) * n + 28023.7) * n;
    }
}

static void page(const struct run *run, const struct field *field, const struct outcome *outcome, const struct taken *taken)
{
    const struct class *class = field->class;
    const struct grid *grid = &field->grid;
    int tasks = run->options.tasks;
    double per = class->iterations;
    printf("NPB %s, class %c: %d x %d x %d points, %d iterations; %d task%s as %d x %d x %d blocks on %d host%s, by %s\n\n",
           benchmark_names[class->benchmark], class->name, class->n, class->n, class->n, class->iterations, tasks, tasks == 1 ? "" : "s",
           grid->blocks[0], grid->blocks[1], grid->blocks[2], run->hosts, run->hosts == 1 ? "" : "s", run->face);
    printf("                %-24s%-22s  %9s\n", "  value", "  official", "off by");
    for (int m = 0; m < 5; m++) line("residual", m + 1, outcome->residual[m], class->residual[m]);
    for (int m = 0; m < 5; m++) line("error", m + 1, outcome->error[m], class->error[m]);
    if (class->benchmark == LU) line("surface", 0, outcome->surface, class->surface);
    double worst = worst_difference(class, outcome);
    printf("  %s: the worst is off by %.1e, at most 1e-8 is\n\n", worst <= AGREEMENT ? "VERIFIED" : "NOT VERIFIED", worst);

    printf("  %-44s%12.3f s\n", "time", taken->seconds);
    printf("  %-44s%12.3f ms\n", "of an iteration", 1e3 * taken->seconds / per);
    printf("  %-44s%12.1f\n", "Mflop/s, by NPB's count of operations", per * operations(class) * 1e-6 / taken->seconds);
    if (tasks == 1) return;
    printf("  %-44s%12.3f s\n", "in calls of the layer, the longest task", taken->layer);
    printf("  %-44s%12.3f s\n", "the same, the mean of all tasks", taken->layer_mean);
    printf("  %-44s%12.3f s\n", "processor time of all tasks in these calls", taken->processor);
    printf("  %-44s%12.3f s\n", "processor time of all tasks", taken->processor_all);
    printf("  %-44s%12.3f s\n", "time beyond the computing alone, shared evenly", taken->beyond);
    printf("  %-44s%12d\n", "by cores", taken->cores);
    printf("  %-44s%12.0f  (halo %.0f)\n", "messages of all tasks in an iteration", taken->messages / per, taken->halo_messages / per);
    printf("  %-44s%12.3f  (halo %.3f)\n", "MB of all tasks in an iteration", taken->bytes / per / 1e6, taken->halo_bytes / per / 1e6);
}

static void sample(const struct run *run, const struct field *field, const struct taken *taken)
{
    const struct class *class = field->class;
    FILE *out = samples_open(&run->options);
    double per = class->iterations;
    fprintf(out, "{\"program\":\"%s\",\"face\":\"%s\",\"tasks\":%d,\"size\":%d,\"verified\":true,\"hops\":%d,", benchmark_names[class->benchmark],
            run->face, run->options.tasks, class->n, class->iterations);
    fprintf(out, "\"applied\":{\"layer_ns\":%.0f,\"layer_mean_ns\":%.0f,\"layer_processor_ns\":%.0f,\"processor_ns\":%.0f,\"beyond_ns\":%.0f,\"messages\":%.0f,"
            "\"bytes\":%.0f,\"hosts\":%d},", 1e9 * taken->layer / per, 1e9 * taken->layer_mean / per, 1e9 * taken->processor / per,
            1e9 * taken->processor_all / per, 1e9 * taken->beyond / per, taken->messages / per, taken->bytes / per, run->hosts);
    int64_t ns = (int64_t)(1e9 * taken->seconds);
    samples_array(out, "samples_ns", &ns, 1);
    fputs("}\n", out);
    samples_close(out);
}

void report(const struct run *run, const struct field *field, const struct outcome *outcome, const struct taken *taken)
{
    if (run->options.out == NULL) {
        page(run, field, outcome, taken);
        /* A launcher that sees one task fail may end the others at once. */
        fflush(stdout);
        return;
    }
    double worst = worst_difference(field->class, outcome);
    /* No sample; and the others are not left waiting for a task that has ended. */
    if (worst <= AGREEMENT) sample(run, field, taken);
    else
        fprintf(stderr, "npb: %s class %c is not verified: a value is off by %.1e, at most 1e-8 is allowed\n", benchmark_names[run->benchmark],
                field->class->name, worst);
}
