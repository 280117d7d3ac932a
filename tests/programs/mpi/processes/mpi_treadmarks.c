/* One process, MPI and shared memory: one task, one numbering, and each sees what it shall see of the other's work. */
#include "tmk_check.h"
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, i, n, sum, part[500], all[500];
	volatile int *x;

	MPI_Init(&argc, &argv);
	Tmk_startup(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	GIVES(rank, Tmk_proc_id);
	GIVES(size, Tmk_nprocs);
	n = size;
	x = share(500 * sizeof *x);
	for (i = rank; i < 500; i += n)
		x[i] = i + 1;
	Tmk_barrier(1);
	/* What MPI gets it gets from memory that is fetched as it is read. */
	for (i = 0; i < 500; i++)
		part[i] = x[i] * (rank + 1);
	MPI_Allreduce(part, all, 500, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	for (i = 0; i < 500; i++)
		GIVES((i + 1) * n * (n + 1) / 2, all[i]);
	/* Shared memory itself is sent from and received to: by the library, which touches it. */
	Tmk_barrier(1);
	if (rank == 0 && n > 1) {
		x[7] = 77;
		MPI_Send((void *)x, 500, MPI_INT, n - 1, 5, MPI_COMM_WORLD);
	}
	if (rank == n - 1 && n > 1) {
		MPI_Recv(part, 500, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		GIVES(77, part[7]);
		GIVES(500, part[499]);
	}
	Tmk_barrier(1);
	if (n > 1 && rank == 0)
		MPI_Recv((void *)x, 500, MPI_INT, n - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (n > 1 && rank == n - 1) {
		for (i = 0; i < 500; i++)
			part[i] = -i;
		MPI_Send(part, 500, MPI_INT, 0, 6, MPI_COMM_WORLD);
	}
	Tmk_barrier(1);
	for (i = sum = 0; i < 500; i++)
		sum += x[i];
	if (n > 1)
		GIVES(-499 * 500 / 2, sum);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("all well\n");
	fflush(stdout);
	Tmk_barrier(0);
	MPI_Finalize();
	Tmk_exit(0);
}
