/* The parallel FFT in MPI. */
#include "fft.h"

#include <mpi.h>

void fft_exchange(int partner, struct point *mine, struct point *theirs, int points, struct spent *spent)
{
    MPI_Request request;
    int64_t begun = now_ns();
    MPI_Isend(mine, 2 * points, MPI_FLOAT, partner, TAG_DATA, MPI_COMM_WORLD, &request);
    int64_t sent = now_ns();
    MPI_Recv(theirs, 2 * points, MPI_FLOAT, partner, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int64_t received = now_ns();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    spent->wait += received - sent;
    spent->communication += (sent - begun) + (now_ns() - received);
}
