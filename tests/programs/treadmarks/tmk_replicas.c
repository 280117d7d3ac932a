/*
 * Processes die, and the others go on (TMK_REPLICAS=1). Each turn makes one array of the other, shared out among those that
 * live, adds to a count under a lock, and renews a block of the heap.
 *
 * tmk_replicas TURNS [VICTIM PLACE TURN]...	PLACE: computing, holding, allocating, reducing, arriving; VICTIM dies there
 * tmk_replicas TURNS told			says its turns, until somebody else has killed one, and takes so many more
 */
#include "tmk_check.h"
#include <signal.h>

#define CELLS 5000
#define BLOCKS 4

static struct {
	int turn;
	long count;
	char *blocks[BLOCKS];
	long cells[2][CELLS];
} *state;

static char **words;
static unsigned living, place_among;
static int wrong = -1;	/* the turn whose sums were wrong */

static void look_who_lives(void)
{
	unsigned node;

	living = place_among = 0;
	for (node = 0; node < Tmk_nprocs; node++) {
		if (node == Tmk_proc_id)
			place_among = living;
		living += Tmk_is_alive(node);
	}
}

/* Dies, if the arguments say so of this place. */
static void is_at(const char *place, int turn)
{
	char **word;

	for (word = words; word[0] && word[1] && word[2]; word += 3)
		if ((unsigned)atoi(word[0]) == Tmk_proc_id && strcmp(word[1], place) == 0 && atoi(word[2]) == turn)
			kill(getpid(), SIGKILL);
}

static void step(const long *from, long *to, int turn, int cell)
{
	to[cell] = from[cell] * 3 + from[(cell + 1) % CELLS] + from[(cell + CELLS - 40) % CELLS] + turn;
}

static void compute(int turn)
{
	long sums[2] = { turn, CELLS - (long)place_among };
	int cell;

	for (cell = place_among; cell < CELLS; cell += living) {
		if (cell > CELLS / 2)
			is_at("computing", turn);
		step(state->cells[turn % 2], state->cells[(turn + 1) % 2], turn, cell);
	}
	Tmk_lock_acquire(5);
	state->count += (CELLS - place_among + living - 1) / living;
	is_at("holding", turn);
	Tmk_lock_release(5);
	if (turn % living == place_among) {
		Tmk_free(state->blocks[turn % BLOCKS]);
		is_at("allocating", turn);
		state->blocks[turn % BLOCKS] = Tmk_malloc(100 + turn * 50);
		CHECK(state->blocks[turn % BLOCKS] != NULL);
	}
	is_at("reducing", turn);
	Tmk_reduce(sums, 2, TMK_LONG, TMK_SUM);
	/* Not so, and undone, if somebody has died. */
	if (sums[0] != (long)turn * living || sums[1] != (long)CELLS * living - (long)living * (living - 1) / 2)
		wrong = turn;
	if (place_among == 0)
		state->turn = turn + 1;
	is_at("arriving", turn);
}

/* What comes of it, by one process alone. */
static void check(int turns)
{
	static long cells[2][CELLS];
	int turn, cell;

	for (turn = 0; turn < turns; turn++)
		for (cell = 0; cell < CELLS; cell++)
			step(cells[turn % 2], cells[(turn + 1) % 2], turn, cell);
	GIVES(turns, state->turn);
	GIVES((long)turns * CELLS, state->count);
	for (cell = 0; cell < CELLS; cell++)
		GIVES(cells[turns % 2][cell], state->cells[turns % 2][cell]);
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 10, turn = 0, more = 0, died, tells, times = 0;

	Tmk_startup(argc, argv);
	words = argv + (argc > 1 ? 2 : 1);
	tells = words[0] && strcmp(words[0], "told") == 0;
	if (tells) {
		more = turns;
		turns = 1 << 30;
	}
	state = share(sizeof *state);
	/* Who dies in the first turn does so when all have left the barriers of that, which bear no death. */
	times += Tmk_barrier_kept(3) != 0;
	look_who_lives();
	/* Who dies in the first turn has left this barrier, at which others may still be, and no barrier that knows of no deaths. */
	died = Tmk_barrier_kept(2) != 0;
	while (turn < turns) {
		if (!died) {
			if (tells) {
				printf("node %u: turn %d\n", Tmk_proc_id, turn);
				fflush(stdout);
			}
			compute(turn);
			died = Tmk_barrier_kept(1) != 0;
		}
		if (!died) {
			CHECK(wrong != turn);
			turn++;
			continue;
		}
		/* What shared memory says is true again, and nobody writes to it until all have read it. */
		do {
			times++;
			turn = state->turn;
			wrong = -1;
			look_who_lives();
		} while (Tmk_barrier_kept(2) != 0);
		died = 0;
		if (tells)
			turns = turn + more;
	}
	check(turns);
	printf("node %u of %u: all well, recovered %d times\n", Tmk_proc_id, living, times);
	Tmk_exit(0);
}
