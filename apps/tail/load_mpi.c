/* The load in MPI: four messages of 64 KiB in each direction, each in a separate buffer. */
#include "load.h"
#include "../teams/team.h"

#include <mpi.h>
#include <stdlib.h>

enum { UNDER_WAY = 4, LOAD_COUNT = 8192, TAG_LOAD = 40 };

static double *sent, *received;
static MPI_Request requests[UNDER_WAY][2];
static int64_t steps;

void load_begin(int partner)
{
    (void)partner;
    sent = doubles(UNDER_WAY * LOAD_COUNT);
    received = doubles(UNDER_WAY * LOAD_COUNT);
    fill(sent, UNDER_WAY * LOAD_COUNT, 77);
    for (int i = 0; i < UNDER_WAY; i++) requests[i][0] = requests[i][1] = MPI_REQUEST_NULL;
    steps = 0;
}

void load_step(int partner)
{
    int place = (int)(steps++ % UNDER_WAY);
    double *from = sent + place * LOAD_COUNT, *to = received + place * LOAD_COUNT;
    /* MPICH 4.0 declares an array of two: without statuses gcc warns. */
    MPI_Status statuses[2];
    MPI_Waitall(2, requests[place], statuses);
    MPI_Irecv(to, LOAD_COUNT, MPI_DOUBLE, partner, TAG_LOAD, MPI_COMM_WORLD, &requests[place][0]);
    MPI_Isend(from, LOAD_COUNT, MPI_DOUBLE, partner, TAG_LOAD, MPI_COMM_WORLD, &requests[place][1]);
}

void load_end(void)
{
    MPI_Status statuses[2];
    for (int i = 0; i < UNDER_WAY; i++) MPI_Waitall(2, requests[i], statuses);
    int places = steps < UNDER_WAY ? (int)steps : UNDER_WAY;
    check(received, (size_t)places * LOAD_COUNT, 77, "in the load");
    free(sent);
    free(received);
}
