/* The ring in MPI. */
#include "common/ring.h"

#include <mpi.h>

void ring_send(int to, double *data, int count)
{
    MPI_Send(data, count, MPI_DOUBLE, to, TAG_DATA, MPI_COMM_WORLD);
}

void ring_recv(int from, double *data, int count)
{
    MPI_Recv(data, count, MPI_DOUBLE, from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    struct team team;
    struct options options;
    team_open(&team, &options, &argc, &argv);
    int code = ring_run(&team, &options);
    team_close();
    return code;
}
