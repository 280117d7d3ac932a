#include "team_mpi.h"

#include <mpi.h>
#include <stdlib.h>

/* The rank that this task is going to have, as launchers say it: Hydra and Parvum, Open MPI, Slurm. -1 where none does. */
static int rank_to_be(void)
{
    static const char *const names[] = { "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != 0) return atoi(value);
    }
    return -1;
}

static void join(struct team *team, struct options *options);

/* The core is chosen before the library looks about: it may lay out its memory and threads by where it runs. */
void team_open(struct team *team, struct options *options, int *argc, char ***argv)
{
    options_read(options, *argc, *argv);
    int rank = rank_to_be();
    if (rank >= 0) pin_task(options, rank);
    MPI_Init(argc, argv);
    join(team, options);
}

void team_join(struct team *team, struct options *options, int argc, char **argv)
{
    options_read(options, argc, argv);
    join(team, options);
}

static void join(struct team *team, struct options *options)
{
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
