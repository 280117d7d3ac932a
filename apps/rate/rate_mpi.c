/* The rate in MPI: sends and receives are started together and waited for together. */
#include "rate.h"

#include <mpi.h>

void rate_send(int to, double *data, int count, int messages)
{
    MPI_Request requests[RATE_WINDOW];
    MPI_Status statuses[RATE_WINDOW];
    for (int i = 0; i < messages; i++)
        MPI_Isend(data + i * count, count, MPI_DOUBLE, to, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(messages, requests, statuses);
}

void rate_recv(int from, double *data, int count, int messages)
{
    MPI_Request requests[RATE_WINDOW];
    MPI_Status statuses[RATE_WINDOW];
    for (int i = 0; i < messages; i++)
        MPI_Irecv(data + i * count, count, MPI_DOUBLE, from, TAG_DATA, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(messages, requests, statuses);
}
