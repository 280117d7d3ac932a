/* The rate in MPI's blocking calls: each message is sent, and received, before the next. */
#include "rate.h"

#include <mpi.h>

void rate_send(int to, double *data, int count, int messages)
{
    for (int i = 0; i < messages; i++)
        MPI_Send(data + i * count, count, MPI_DOUBLE, to, TAG_DATA, MPI_COMM_WORLD);
}

void rate_recv(int from, double *data, int count, int messages)
{
    for (int i = 0; i < messages; i++)
        MPI_Recv(data + i * count, count, MPI_DOUBLE, from, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
