/* Group operations in MPI. */
#include "group.h"

#include <mpi.h>

const char group_operations[] = "barrier,broadcast,reduce,gather,allreduce,allgather,alltoall";

void group_open(const struct team *team) { (void)team; }
void group_close(const struct team *team) { (void)team; }

void group_barrier(const struct team *team)
{
    (void)team;
    MPI_Barrier(MPI_COMM_WORLD);
}

void group_broadcast(const struct team *team, double *data, int count, int root)
{
    (void)team;
    MPI_Bcast(data, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

void group_reduce(const struct team *team, const double *mine, double *sum, int count, int root)
{
    (void)team;
    MPI_Reduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

void group_gather(const struct team *team, const double *mine, double *all, int count, int root)
{
    (void)team;
    MPI_Gather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
}

void group_allreduce(const struct team *team, const double *mine, double *sum, int count)
{
    (void)team;
    MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void group_allgather(const struct team *team, const double *mine, double *all, int count)
{
    (void)team;
    MPI_Allgather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
}

void group_alltoall(const struct team *team, const double *mine, double *all, int count)
{
    (void)team;
    MPI_Alltoall(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, MPI_COMM_WORLD);
}
