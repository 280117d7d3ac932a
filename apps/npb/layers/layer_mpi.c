/* The layer's calls by MPI. */
#include "../layer.h"

#include <limits.h>
#include <mpi.h>

void body_open(struct run *run, int *argc, char ***argv)
{
    int tasks;
    MPI_Comm host;
    MPI_Init(argc, argv);
    run_read(run, *argc, *argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run->task);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    if (tasks != run->options.tasks) fail("mpirun started %d tasks, --tasks says %d", tasks, run->options.tasks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &run->here);
    int first, is_first;
    MPI_Comm_rank(host, &first);
    is_first = first == 0;
    MPI_Allreduce(&is_first, &run->hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&host);
    run->face = "mpi";
}

void body_close(void)
{
    MPI_Finalize();
}

static int number(size_t count)
{
    if (count > INT_MAX) fail("a message of %zu values is longer than MPI takes", count);
    return (int)count;
}

void body_send(int to, int tag, const double *values, size_t count)
{
    MPI_Send(values, number(count), MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
}

void body_recv(int from, int tag, double *values, size_t count)
{
    MPI_Recv(values, number(count), MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void body_exchange(int to, const double *out, size_t outs, int from, double *in, size_t ins, int tag)
{
    MPI_Sendrecv(out, number(outs), MPI_DOUBLE, to < 0 ? MPI_PROC_NULL : to, tag, in, number(ins), MPI_DOUBLE,
                 from < 0 ? MPI_PROC_NULL : from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
