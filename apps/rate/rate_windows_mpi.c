/* The reply of the rate in MPI. */
#include "rate.h"

#include <mpi.h>

void rate_answer(int to)
{
    MPI_Send(NULL, 0, MPI_DOUBLE, to, TAG_RESULT, MPI_COMM_WORLD);
}

void rate_await(int from)
{
    MPI_Recv(NULL, 0, MPI_DOUBLE, from, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
