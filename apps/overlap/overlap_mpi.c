/* MPI begins messages in both directions, or a collective. */
#include "overlap.h"

#include <mpi.h>

enum { EXCHANGE, BROADCAST, ALLREDUCE, ALLTOALL };
const char *const overlap_names[] = { "exchange", "broadcast", "allreduce", "alltoall", NULL };

static MPI_Request requests[2];

void overlap_begin(struct overlap *overlap, int what)
{
    int count = overlap->count;
    double *out = overlap->out, *in = overlap->in;
    switch (what) {
    case EXCHANGE:
        MPI_Irecv(in, count, MPI_DOUBLE, overlap->partner, TAG_DATA, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, count, MPI_DOUBLE, overlap->partner, TAG_DATA, MPI_COMM_WORLD, &requests[0]);
        break;
    case BROADCAST: MPI_Ibcast(out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[0]); break;
    case ALLREDUCE: MPI_Iallreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]); break;
    case ALLTOALL: MPI_Ialltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]); break;
    }
}

void overlap_end(struct overlap *overlap, int what)
{
    MPI_Status statuses[2];
    (void)overlap;
    MPI_Waitall(what == EXCHANGE ? 2 : 1, requests, statuses);
}
