/*
 * The engine's requests, by its own calls: data in pieces on both sides, many requests waited for at once, and messages that
 * several threads find and take out. The first task spawns the second.
 */
#include "check.h"

#include <parvum_engine.h>
#include <pthread.h>

enum { CONTEXT = 0x7e57, STRIPES, MANY, SHARED, TAKEN };
#define THREADS 4
#define EACH 500
#define REQUESTS 300

static const struct parvum_table *engine;
static const struct parvum_notes patient = { -1, PARVUM_CALL_WAIT, PARVUM_ANY_TASK, -1, CONTEXT };
static int partner;

static void begin(void)
{
	struct parvum_enrolled me;
	engine = parvum_table();
	GIVES(PARVUM_TABLE_VERSION, (int)engine->version);
	GIVES(PARVUM_STATUS_DONE, engine->enrol("requests", 8, &me));
}

static struct parvum_pattern tagged(int tag)
{
	return (struct parvum_pattern){ partner, PARVUM_TAG_EXACTLY, tag, 0, CONTEXT };
}

static void end(uint64_t request)
{
	struct parvum_message message;
	if (request != 0) GIVES(PARVUM_STATUS_DONE, engine->wait(request, &patient, &message));
}

static uint64_t start(int tag, const struct parvum_piece *pieces, size_t count, uint32_t buffering)
{
	struct parvum_outgoing message = { .to = partner, .tag = tag, .context = CONTEXT, .pieces = pieces, .count = count,
		.buffering = buffering };
	uint64_t request;
	int status = engine->send(&message, &request);
	CHECK(status == PARVUM_STATUS_DONE || status == PARVUM_STATUS_PENDING);
	return status == PARVUM_STATUS_PENDING ? request : 0;
}

static void send_int(int tag, int value)
{
	struct parvum_piece piece = { &value, sizeof value };
	end(start(tag, &piece, 1, PARVUM_BUFFER_BY_SIZE));
}

/* Every second run of `run` bytes of a matrix, as pieces there and spaces here. */
#define RUNS 64
static unsigned char matrix[2 * RUNS * 8192], data[RUNS * 8192];

static void send_stripes(size_t run, uint32_t buffering)
{
	struct parvum_piece pieces[RUNS];
	for (size_t i = 0; i < RUNS; i++) {
		memset(matrix + 2 * i * run, (int)(i + run % 100), run);
		pieces[i] = (struct parvum_piece){ matrix + 2 * i * run, run };
	}
	end(start(STRIPES, pieces, RUNS, buffering));
}

static void receive_stripes(size_t run, int posted)
{
	struct parvum_space spaces[RUNS];
	struct parvum_pattern pattern = tagged(STRIPES);
	struct parvum_room room = { PARVUM_ROOM_PIECES, spaces, RUNS };
	struct parvum_message message;
	memset(matrix, 0xee, sizeof matrix);
	for (size_t i = 0; i < RUNS; i++) spaces[i] = (struct parvum_space){ matrix + (2 * i + 1) * run, run };
	if (posted) {
		uint64_t request = engine->post(&pattern, &room, 0);
		/* A list is needed no longer than the call. */
		memset(spaces, 0, sizeof spaces);
		send_int(TAKEN, 0);
		GIVES(PARVUM_STATUS_DONE, engine->wait(request, &patient, &message));
	} else {
		send_int(TAKEN, 0);
		GIVES(PARVUM_STATUS_DONE, engine->receive(&pattern, &room, &patient, &message));
	}
	GIVES((int)(RUNS * run), (int)message.length);
	for (size_t i = 0; i < RUNS; i++)
		for (size_t at = 0; at < run; at++) {
			CHECK(matrix[(2 * i + 1) * run + at] == (unsigned char)(i + run % 100));
			CHECK(matrix[2 * i * run + at] == 0xee);
		}
}

static const size_t lengths[] = { 1, 60, 700, 4096, 8192 };
static const uint32_t choices[] = { PARVUM_BUFFER_BY_SIZE, PARVUM_BUFFER_NOBODY, PARVUM_BUFFER_AT_SENDER, PARVUM_BUFFER_AT_RECEIVER };

static void receive_int(int tag, int wanted)
{
	struct parvum_pattern pattern = tagged(tag);
	int value;
	struct parvum_room room = { PARVUM_ROOM_MEMORY, &value, sizeof value };
	struct parvum_message message;
	GIVES(PARVUM_STATUS_DONE, engine->receive(&pattern, &room, &patient, &message));
	GIVES(wanted, value);
}

static void stripes(int first)
{
	for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
		for (size_t c = 0; c < sizeof choices / sizeof *choices; c++)
			for (int posted = 0; posted < 2; posted++) {
				if (first) {
					receive_int(TAKEN, 0);
					send_stripes(lengths[l], choices[c]);
				} else {
					receive_stripes(lengths[l], posted);
				}
			}
}

/* Many receives are posted; they are over in another order, and each is told once. */
static void many(int first)
{
	static uint64_t requests[REQUESTS];
	static int values[REQUESTS];
	static size_t over[REQUESTS];
	if (first) {
		receive_int(TAKEN, 1);
		for (int i = 0; i < REQUESTS; i++) send_int(MANY + 1000 + (i * 7) % REQUESTS, (i * 7) % REQUESTS);
		return;
	}
	struct parvum_message message;
	struct parvum_notes once = patient;
	once.limit = 0;
	for (int i = 0; i < REQUESTS; i++) {
		struct parvum_pattern pattern = tagged(MANY + 1000 + i);
		struct parvum_room room = { PARVUM_ROOM_MEMORY, &values[i], sizeof values[i] };
		requests[i] = engine->post(&pattern, &room, 0);
	}
	GIVES(0, (int)engine->wait_some(requests, REQUESTS, &once, over));
	GIVES(-1, (int)engine->wait_any(requests, REQUESTS, UINT64_MAX, &once));
	send_int(TAKEN, 1);
	int left = REQUESTS;
	size_t count = REQUESTS;
	while (left > 0) {
		size_t some = engine->wait_some(requests, count, &patient, over);
		CHECK(some > 0 && some <= count);
		for (size_t i = 0; i < some; i++) {
			CHECK(i == 0 || over[i] > over[i - 1]);
			GIVES(PARVUM_STATUS_DONE, engine->wait(requests[over[i]], &once, &message));
			GIVES(values[message.tag - MANY - 1000], message.tag - MANY - 1000);
			requests[over[i]] = 0;
			left--;
		}
		/* What names nothing counts as over: it is taken off the list. */
		size_t kept = 0;
		for (size_t i = 0; i < count; i++)
			if (requests[i] != 0) requests[kept++] = requests[i];
		count = kept;
	}
	GIVES(-1, (int)engine->wait_any(NULL, 0, UINT64_MAX, &once));
}

/* Threads find and take out each message once, whatever the others do; some put theirs back first. */
static int seen[THREADS * EACH];

static void *taker(void *unused)
{
	(void)unused;
	for (int i = 0; i < EACH; i++) {
		struct parvum_pattern pattern = tagged(SHARED);
		struct parvum_message found, message;
		int value = -1;
		struct parvum_room room = { PARVUM_ROOM_MEMORY, &value, sizeof value };
		GIVES(PARVUM_STATUS_DONE, engine->extract(&pattern, &patient, &found));
		if (i % 3 == 0) {
			GIVES(PARVUM_STATUS_DONE, engine->put_back(found.handle));
			GIVES(PARVUM_STATUS_DONE, engine->extract(&pattern, &patient, &found));
		}
		GIVES(PARVUM_STATUS_DONE, engine->take(found.handle, &room, &patient, &message));
		GIVES(PARVUM_STATUS_UNKNOWN, engine->take(found.handle, &room, &patient, &message));
		GIVES(PARVUM_STATUS_UNKNOWN, engine->put_back(found.handle));
		CHECK(value >= 0 && value < THREADS * EACH);
		__atomic_add_fetch(&seen[value], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void shared(int first)
{
	pthread_t threads[THREADS];
	if (first) {
		for (int i = 0; i < THREADS * EACH; i++) send_int(SHARED, i);
		return;
	}
	for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, taker, NULL) == 0);
	for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
	for (int i = 0; i < THREADS * EACH; i++) GIVES(1, seen[i]);
}

/* What makes no sense is refused, and nothing is posted for it. */
static void nonsense(void)
{
	struct parvum_pattern pattern = tagged(TAKEN);
	struct parvum_room no_kind = { 99, data, sizeof data }, fitting = { PARVUM_ROOM_FITTING, data, sizeof data };
	/* At address 0 there is no memory, in however many pieces it is said to be. */
	struct parvum_space nowhere[2] = { { data, 1 }, { NULL, 1 } }, nothing[2] = { { data, 1 }, { NULL, 0 } };
	struct parvum_room impossible[] = { { PARVUM_ROOM_MEMORY, NULL, 1 }, { PARVUM_ROOM_FITTING, NULL, 1 },
		{ PARVUM_ROOM_PIECES, NULL, 1 }, { PARVUM_ROOM_PIECES, nowhere, 2 } };
	struct parvum_room possible[] = { { PARVUM_ROOM_MEMORY, NULL, 0 }, { PARVUM_ROOM_PIECES, NULL, 0 },
		{ PARVUM_ROOM_PIECES, nothing, 2 } };
	struct parvum_message message;
	struct parvum_notes once = patient;
	once.limit = 0;
	for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
		GIVES(PARVUM_STATUS_BAD_ARGUMENT, engine->receive(&pattern, &impossible[i], &once, &message));
		GIVES(PARVUM_STATUS_BAD_ARGUMENT, engine->take(12345678, &impossible[i], &once, &message));
		GIVES(0, (int)engine->post(&pattern, &impossible[i], 0));
	}
	for (size_t i = 0; i < sizeof possible / sizeof *possible; i++)
		GIVES(PARVUM_STATUS_PENDING, engine->receive(&pattern, &possible[i], &once, &message));
	GIVES(0, (int)engine->post(&pattern, &no_kind, 0));
	GIVES(0, (int)engine->post(&pattern, &fitting, 0));
	GIVES(PARVUM_STATUS_BAD_ARGUMENT, engine->receive(&pattern, &no_kind, &once, &message));
	GIVES(PARVUM_STATUS_UNKNOWN, engine->take(12345678, &fitting, &once, &message));
	GIVES(PARVUM_STATUS_PENDING, engine->extract(&pattern, &once, &message));
	GIVES(PARVUM_STATUS_UNKNOWN, engine->put_back(12345678));
	GIVES(0, (int)engine->wait_some(NULL, 0, &once, NULL));
	pattern.tags = 77;
	GIVES(PARVUM_STATUS_BAD_ARGUMENT, engine->extract(&pattern, &once, &message));
}

int main(int argc, char **argv)
{
	int parent;
	(void)argc;
	CHECK(pvm_mytid() > 0);
	begin();
	parent = pvm_parent();
	if (parent == PvmNoParent || parent == PvmParentNotSet) {
		GIVES(1, pvm_spawn(argv[0], NULL, PvmTaskDefault, NULL, 1, &partner));
		stripes(1);
		many(1);
		shared(1);
		receive_int(TAKEN, 2);
	} else {
		partner = parent;
		nonsense();
		stripes(0);
		many(0);
		shared(0);
		send_int(TAKEN, 2);
	}
	OK(pvm_exit());
	return 0;
}
