/*
 * A first MPI program: every process prints its rank, and rank 0 prints the sum of all ranks.
 *
 *     mpicc hello_mpi.c -o hello_mpi
 *     mpiexec -n 4 ./hello_mpi
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0, length;
    char host[MPI_MAX_PROCESSOR_NAME];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    printf("hello from rank %d of %d on %s\n", rank, size, host);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the ranks add up to %d\n", sum);
    return MPI_Finalize();
}
