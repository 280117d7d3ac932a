/* A rank that frees nothing: communicators, a window, a file with a shared pointer, PVM contexts and groups, a mailbox entry.
 *
 * leaves HOW FOLDER: it ends by MPI_Finalize (`finalize`), by exit without that (`exit`), by MPI_Abort (`abort`), or rank 1 is killed
 * (`kill`). Two ranks. */
#include "check.h"
#include <mpi.h>
#include <signal.h>

enum { COMMUNICATORS = 200, CONTEXTS = 20 };

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *folder = argc > 2 ? argv[2] : "/tmp";
	char path[500], word[] = "left";
	MPI_Comm copy;
	MPI_Win window;
	MPI_File file;
	void *memory;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < COMMUNICATORS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	for (int i = 0; i < CONTEXTS; i++)
		CHECK(pvm_newcontext() > 0);
	CHECK(pvm_joingroup("leaves") >= 0);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_pkstr(word));
	CHECK(pvm_putinfo("leaves", pvm_getsbuf(), PvmMboxMultiInstance) >= 0);
	MPI_Win_allocate(100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
	snprintf(path, sizeof path, "%s/leaves", folder);
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
	MPI_File_write_shared(file, word, 4, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(how, "abort") == 0)
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (strcmp(how, "kill") == 0 && rank == 1)
		raise(SIGKILL);
	if (strcmp(how, "finalize") == 0)
		MPI_Finalize();
	return 0;
}
