/*
 * Many short receives begun at once: whatever the program calls between their beginning and their end, each gets the message that
 * MPI's order gives it. Each rank exchanges with its right neighbour; the last line says how many checks there were.
 */
#include "mpi_check.h"

enum { MANY = 2000, FEW = 16 };

static int left, right, begun;
static int numbers[MANY], given[MANY];
static MPI_Request requests[MANY], sends[MANY];
static MPI_Status statuses[MANY];

static void begin(int count, int source, int tag)
{
	for (int i = 0; i < count; i++) {
		numbers[i] = -1;
		MPI_Irecv(&numbers[i], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]);
	}
}

static void send(int count, int tag)
{
	/* Without waiting for anything: that would post what was begun. */
	for (int i = 0; i < count; i++, begun++) {
		given[begun] = 1000 * tag + i;
		MPI_Isend(&given[begun], 1, MPI_INT, right, tag, MPI_COMM_WORLD, &sends[begun]);
	}
}

static void came(int count, int tag)
{
	MPI_Waitall(begun, sends, MPI_STATUSES_IGNORE);
	begun = 0;
	for (int i = 0; i < count; i++) {
		CHECK(1000 * tag + i == numbers[i]);
		CHECK(MPI_REQUEST_NULL == requests[i]);
	}
}

/* All at once, few and more than are ever left unposted. */
static void all_at_once(void)
{
	for (int count = 1; count <= MANY; count *= count < 100 ? 3 : 20) {
		begin(count, left, 1);
		send(count, 1);
		MPI_Waitall(count, requests, statuses);
		came(count, 1);
		CHECK(left == statuses[count - 1].MPI_SOURCE);
		CHECK(1 == statuses[count - 1].MPI_TAG);
		int got;
		MPI_Get_count(&statuses[count - 1], MPI_INT, &got);
		CHECK(1 == got);
	}
}

/* Sends among them, as programs with neighbours do. */
static void with_sends_among_them(void)
{
	static MPI_Request both[2 * FEW];
	int own[FEW];
	for (int turn = 0; turn < 50; turn++) {
		for (int i = 0; i < FEW; i++) {
			own[i] = 100 * turn + i;
			MPI_Irecv(&numbers[i], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &both[2 * i]);
			MPI_Isend(&own[i], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &both[2 * i + 1]);
		}
		MPI_Waitall(2 * FEW, both, MPI_STATUSES_IGNORE);
		for (int i = 0; i < FEW; i++) CHECK(100 * turn + i == numbers[i]);
		for (int i = 0; i < 2 * FEW; i++) CHECK(MPI_REQUEST_NULL == both[i]);
	}
}

/* Whoever comes later is matched later: a blocking receive, a probe. */
static void before_a_receive(void)
{
	begin(FEW, left, 3);
	send(FEW + 1, 3);
	int last = -1;
	MPI_Recv(&last, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(3000 + FEW == last);
	MPI_Waitall(FEW, requests, MPI_STATUSES_IGNORE);
	came(FEW, 3);
}

/* A sender that waits for the last of them goes on, though the first has not come. */
static void the_last_before_the_first(void)
{
	begin(1, left, 4);
	int second = -1, number = 4001;
	MPI_Irecv(&second, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[1]);
	MPI_Request going;
	MPI_Issend(&number, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &going);
	/* The first is sent when the right one has matched the second. */
	MPI_Wait(&going, MPI_STATUS_IGNORE);
	send(1, 4);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	came(1, 4);
	CHECK(4001 == second);
}

/* The same where the two waits are in different ranks at the same time. */
static void waiting_for_each_other(void)
{
	begin(1, left, 6);
	int second = -1, number = 7;
	MPI_Irecv(&second, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[1]);
	if (rank == 0) {
		MPI_Ssend(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
		send(1, 6);
	}
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	if (rank != 0) {
		MPI_Ssend(&number, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
		send(1, 6);
	}
	came(1, 6);
	CHECK(7 == second);
}

static void one_by_one(void)
{
	begin(FEW, left, 8);
	send(FEW, 8);
	/* From behind: all have to be posted for that. */
	for (int i = FEW - 1; i >= 0; i--) {
		MPI_Status status;
		MPI_Wait(&requests[i], &status);
		CHECK(left == status.MPI_SOURCE);
	}
	came(FEW, 8);
	begin(FEW, MPI_ANY_SOURCE, 8);
	send(FEW, 8);
	for (int done = 0; done < FEW; done++) {
		int index, flag = 0;
		if (done % 2) MPI_Waitany(FEW, requests, &index, MPI_STATUS_IGNORE);
		else while (!flag) MPI_Testany(FEW, requests, &index, &flag, MPI_STATUS_IGNORE);
		CHECK(8000 + index == numbers[index]);
	}
	came(FEW, 8);
	begin(1, left, 8);
	send(1, 8);
	MPI_Wait(requests, statuses);
	came(1, 8);
}

/* One that is too short is told, and the byte behind it stays. */
static void too_short(void)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Comm own;
	MPI_Comm_dup(MPI_COMM_WORLD, &own);
	char room[FEW + 1];
	memset(room, 'x', sizeof room);
	MPI_Request two[2];
	MPI_Irecv(room, 4, MPI_CHAR, left, 1, own, &two[0]);
	MPI_Irecv(room + 8, 4, MPI_CHAR, left, 2, own, &two[1]);
	MPI_Send("abcdefgh", 8, MPI_CHAR, right, 1, own);
	MPI_Send("ij", 2, MPI_CHAR, right, 2, own);
	MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(MPI_ERR_IN_STATUS == class_of(MPI_Waitall(2, two, statuses)));
	CHECK(MPI_ERR_TRUNCATE == class_of(statuses[0].MPI_ERROR));
	/* MPICH has not looked at it yet. */
	int other = class_of(statuses[1].MPI_ERROR);
	CHECK(other == MPI_SUCCESS || other == MPI_ERR_PENDING);
	CHECK(memcmp(room, "abcdxxxxij", 10) == 0);
	MPI_Comm_free(&own);
}

static void given_up(void)
{
	begin(FEW, left, 9);
	MPI_Cancel(&requests[FEW - 1]);
	send(FEW - 1, 9);
	MPI_Waitall(FEW, requests, statuses);
	int cancelled;
	MPI_Test_cancelled(&statuses[FEW - 1], &cancelled);
	CHECK(1 == cancelled);
	came(FEW - 1, 9);
	/* One that is freed is received all the same. */
	begin(2, left, 10);
	MPI_Request_free(&requests[0]);
	send(2, 10);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	came(2, 10);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	void (*all[])(void) = { all_at_once, with_sends_among_them, before_a_receive, the_last_before_the_first,
		waiting_for_each_other, one_by_one, too_short, given_up };
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		all[i]();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("rank %d: %d checks\n", rank, checks);
	MPI_Finalize();
	return 0;
}
