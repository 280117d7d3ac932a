#include "team_mpi.h"

#include <mpi.h>

void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    team_join(team, options, *argc, *argv);
}

void team_join(struct team *team, struct options *options, int argc, char **argv)
{
    options_read(options, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &team->task);
    MPI_Comm_size(MPI_COMM_WORLD, &team->tasks);
    team->face = "mpi";
    if (team->tasks != options->tasks)
        fail("mpirun started %d tasks, --tasks says %d", team->tasks, options->tasks);
    pin_task(options, team->task);
}

void team_close(void)
{
    MPI_Finalize();
}

void team_send(int to, int tag, const int64_t *values, int count)
{
    MPI_Send(values, count, MPI_INT64_T, to, tag, MPI_COMM_WORLD);
}

void team_recv(int from, int tag, int64_t *values, int count)
{
    MPI_Recv(values, count, MPI_INT64_T, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
