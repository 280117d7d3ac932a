/* Bytes by MPI. */
#include "share.h"

#include <mpi.h>

void share_send(int to, int tag, const void *data, size_t bytes)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

void share_recv(int from, int tag, void *data, size_t bytes)
{
    MPI_Recv(data, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int share_any(int tag, void *data, size_t bytes, int waits)
{
    MPI_Status status;
    int there = 1;
    if (!waits) MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (!there) return -1;
    MPI_Recv(data, (int)bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}
