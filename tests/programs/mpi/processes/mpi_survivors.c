/* Rank 2 is killed while the others wait in a receive from it, a receive from anyone, and a sum. All must hear of it; those who are left
 * revoke, agree, shrink and go on. Each survivor prints `rank R: agreed, P of N, sum S`. With the word `inside` rank 3 dies while they shrink;
 * with `acknowledge` rank 0 goes on receiving from anyone once it has acknowledged the death, and then revokes the communicator. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int class_of(int code)
{
    int found = -1;
    MPI_Error_class(code, &found);
    return found;
}

static void expect(int rank, int line, int holds)
{
    if (!holds) {
        fprintf(stderr, "rank %d, line %d: not as promised\n", rank, line);
        MPI_Abort(MPI_COMM_WORLD, 6);
    }
}

#define EXPECT(holds) expect(rank, __LINE__, holds)

/* A request that the dead might have satisfied: every call that asks says so, the request goes on, and is satisfied by somebody else
   when the death is acknowledged. */
static void goes_on(MPI_Comm comm, int rank, MPI_Request *request, int *data)
{
    MPI_Request both[2] = { MPI_REQUEST_NULL, *request };
    MPI_Status status, statuses[2];
    int flag = 1, index = -1, some[2], count = -1;
    EXPECT(class_of(MPI_Wait(request, &status)) == MPIX_ERR_PROC_FAILED_PENDING && *request == both[1]);
    EXPECT(class_of(MPI_Test(request, &flag, &status)) == MPIX_ERR_PROC_FAILED_PENDING && !flag && *request == both[1]);
    EXPECT(class_of(MPI_Waitall(2, both, statuses)) == MPI_ERR_IN_STATUS && both[1] == *request);
    EXPECT(class_of(statuses[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING && statuses[0].MPI_ERROR == MPI_SUCCESS);
    EXPECT(class_of(MPI_Waitany(2, both, &index, &status)) == MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(index == 1 && both[1] == *request);
    EXPECT(class_of(MPI_Testany(2, both, &index, &flag, &status)) == MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(index == 1 && both[1] == *request);
    EXPECT(class_of(MPI_Waitsome(2, both, &count, some, statuses)) == MPI_ERR_IN_STATUS);
    EXPECT(count == 1 && some[0] == 1 && both[1] == *request);
    EXPECT(class_of(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING);
    EXPECT(MPI_Request_get_status(*request, &flag, &status) == MPI_SUCCESS && !flag);
    EXPECT(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS);
    EXPECT(MPI_Test(request, &flag, &status) == MPI_SUCCESS && !flag);
    EXPECT(MPI_Send(data, 1, MPI_INT, 1, 8, comm) == MPI_SUCCESS);
    EXPECT(MPI_Wait(request, &status) == MPI_SUCCESS && status.MPI_SOURCE == 1 && *request == MPI_REQUEST_NULL);
}

/* What needs the dead fails, and what may be from them until their death is acknowledged; the rest goes on. */
static void acknowledge(MPI_Comm comm, int rank)
{
    int data = -1, size;
    MPI_Group dead;
    if (rank == 0) {
        MPI_Request request;
        EXPECT(MPI_Irecv(&size, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &request) == MPI_SUCCESS);
        EXPECT(class_of(MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
        EXPECT(class_of(MPI_Recv(&size, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
        EXPECT(class_of(MPI_Ssend(&rank, 1, MPI_INT, 2, 0, comm)) == MPIX_ERR_PROC_FAILED);
        data = 3;
        goes_on(comm, rank, &request, &data);
        EXPECT(size == 3);
        EXPECT(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS && MPIX_Comm_failure_get_acked(comm, &dead) == MPI_SUCCESS);
        MPI_Group_size(dead, &size);
        EXPECT(size == 1);
        MPI_Group_free(&dead);
        EXPECT(MPI_Send(&rank, 1, MPI_INT, 1, 6, comm) == MPI_SUCCESS);
        EXPECT(MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && data == 1);
        MPIX_Comm_revoke(comm);
    } else {
        if (rank == 1) {
            EXPECT(MPI_Recv(&data, 1, MPI_INT, 0, 8, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            EXPECT(MPI_Send(&data, 1, MPI_INT, 0, 7, comm) == MPI_SUCCESS);
            EXPECT(MPI_Recv(&data, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            EXPECT(MPI_Send(&rank, 1, MPI_INT, 0, 5, comm) == MPI_SUCCESS);
        }
        EXPECT(class_of(MPI_Recv(&data, 1, MPI_INT, 0, 9, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_REVOKED);
    }
    /* From now on nothing goes there, to nobody neither. */
    EXPECT(class_of(MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 0, comm)) == MPIX_ERR_REVOKED);
    EXPECT(class_of(MPI_Barrier(comm)) == MPIX_ERR_REVOKED);
    /* Who ends is gone as well, so nobody does before all have heard. */
    MPI_Comm rest;
    EXPECT(MPIX_Comm_shrink(comm, &rest) == MPI_SUCCESS && MPI_Barrier(rest) == MPI_SUCCESS);
    printf("rank %d: as promised\n", rank);
}

int main(int argc, char **argv)
{
    int rank, data, sum = 0, code, place, left;
    MPI_Comm comm, rest;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    if (rank == 2)
        raise(SIGKILL);
    if (argc > 1 && strcmp(argv[1], "acknowledge") == 0) {
        acknowledge(comm, rank);
        MPI_Finalize();
        return 0;
    }
    data = rank;
    if (rank == 0)
        code = MPI_Recv(&data, 1, MPI_INT, 2, 0, comm, MPI_STATUS_IGNORE);
    else if (rank == 1)
        code = MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
    else
        code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (class_of(code) != MPIX_ERR_PROC_FAILED && class_of(code) != MPIX_ERR_REVOKED) {
        printf("rank %d: class %d\n", rank, class_of(code));
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPIX_Comm_revoke(comm);
    int flags = 0xff & ~(1 << rank);
    code = MPIX_Comm_agree(comm, &flags);
    if (class_of(code) != MPIX_ERR_PROC_FAILED || flags != (0xff & ~0x1b))
        MPI_Abort(MPI_COMM_WORLD, 4);
    if (argc > 1 && rank == 3) {
        MPI_Request request;
        MPIX_Comm_ishrink(comm, &rest, &request);
        raise(SIGKILL);
    }
    /* One that has said that it lives and died then may be in the new one: that is found out when it is used. */
    for (;;) {
        if (MPIX_Comm_shrink(comm, &rest) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 5);
        code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, rest);
        if (code == MPI_SUCCESS)
            break;
        MPIX_Comm_revoke(rest);
        MPI_Comm_free(&comm);
        comm = rest;
    }
    MPI_Comm_rank(rest, &place);
    MPI_Comm_size(rest, &left);
    printf("rank %d: agreed, %d of %d, sum %d\n", rank, place, left, sum);
    MPI_Finalize();
    return 0;
}
