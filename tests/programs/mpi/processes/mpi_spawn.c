/* Processes that come later. Without a word, each of two parents spawns two children; with `serve` and `call` two jobs meet. */
#include "mpi_check.h"

static const char *service = "mpi_spawn's service";

/* A child sends its parent a number, and both become one communicator. */
static int child(MPI_Comm parent)
{
    int number = 100 + rank, sum, place;
    MPI_Comm all;
    CHECK(size == 2);
    MPI_Send(&number, 1, MPI_INT, 0, rank, parent);
    MPI_Intercomm_merge(parent, 1, &all);
    MPI_Comm_rank(all, &place);
    CHECK(place == rank + 1);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 3);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
    printf("child %d has met its parent\n", rank);
    MPI_Finalize();
    return 0;
}

static void parent(char *program)
{
    int got[2], codes[2] = {-1, -1}, there, place, sum;
    MPI_Comm children, all, gone;
    MPI_Status status;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, codes);
    MPI_Comm_remote_size(children, &there);
    CHECK(there == 2 && codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    for (int at = 0; at < 2; at++) {
        MPI_Recv(&got[at], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, children, &status);
        CHECK(got[at] == 100 + status.MPI_SOURCE && status.MPI_TAG == status.MPI_SOURCE);
    }
    MPI_Intercomm_merge(children, 0, &all);
    MPI_Comm_rank(all, &place);
    CHECK(place == 0);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 3);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&children);
    CHECK(children == MPI_COMM_NULL);
    /* A program that is not there is nobody's end. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &gone, codes))
          == MPI_ERR_SPAWN);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("parent %d: its children are gone\n", rank);
}

/* Both jobs are one, for a sum. */
static void together(MPI_Comm both, int high)
{
    MPI_Comm all;
    int place, sum, many;
    MPI_Intercomm_merge(both, high, &all);
    MPI_Comm_rank(all, &place);
    MPI_Comm_size(all, &many);
    CHECK(place == rank + (high ? size : 0));
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all);
    if (rank == 0)
        printf("sum %d of %d\n", sum, many);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&both);
}

static void serve(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm both;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
        printf("published\n");
        fflush(stdout);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both);
    if (rank == 0) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    together(both, 0);
}

static void call(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm both;
    if (rank == 0)
        MPI_Lookup_name(service, MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both);
    together(both, 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, port)) == MPI_ERR_NAME);
    if (rank == 0)
        printf("the name is gone\n");
}

int main(int argc, char **argv)
{
    MPI_Comm with;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&with);
    if (with != MPI_COMM_NULL)
        return child(with);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        serve();
    else if (argc > 1)
        call();
    else
        parent(argv[0]);
    MPI_Finalize();
    return 0;
}
