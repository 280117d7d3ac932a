/*
 * A short message packed, sent, received and unpacked asks nobody for memory, once both tasks have their buffers, be it
 * awaited or early: counted in every call of malloc and its kin in the process, the libraries' included.
 */
#include "check.h"
#include <execinfo.h>

enum { PING = 1, EARLY = 2, OVER = 3, WARM = 200, ROUNDS = 400 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static volatile int counts;
static volatile long asked;
static void *callers[16];
static int depth;

/* Counts, and keeps who was the first to ask: a count alone would not say where to look. */
static void count_one(void)
{
	if (!counts)
		return;
	if (asked++ == 0) {
		counts = 0;
		depth = backtrace(callers, 16);
		counts = 1;
	}
}

void *malloc(size_t size)
{
	count_one();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	count_one();
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	count_one();
	return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
	count_one();
	*memory = __libc_memalign(alignment, size);
	return *memory == NULL ? 12 : 0;
}

static void send_one(int to, int tag, int encoding, double number)
{
	CHECK(pvm_initsend(encoding) > 0);
	OK(pvm_pkdouble(&number, 1, 1));
	OK(pvm_send(to, tag));
}

static double receive_one(int from, int tag)
{
	double number;

	CHECK(pvm_recv(from, tag) > 0);
	OK(pvm_upkdouble(&number, 1, 1));
	return number;
}

/* The first of the two is always there before anybody asks for it. */
static void send_two(int to, int encoding, int round)
{
	send_one(to, EARLY, encoding, -round);
	send_one(to, PING, encoding, round);
}

/* `pauses`: now and then one is late, so that the other posts its receive and sleeps; once for so long that it looks whether it
 * keeps somebody from sending, and how much memory there is. */
static void exchange(int other, int first, int encoding, int rounds, int pauses)
{
	for (int i = 0; i < rounds; i++) {
		if (pauses && i % 20 == (first ? 5 : 15))
			usleep(i < 20 ? 600000 : 3000);
		if (first)
			send_two(other, encoding, i);
		CHECK(receive_one(other, PING) == i);
		CHECK(receive_one(other, EARLY) == -i);
		if (!first)
			send_two(other, encoding, i);
	}
}

int main(int argc, char **argv)
{
	int encodings[] = { PvmDataDefault, PvmDataRaw }, first = argc == 1, other;
	void *seen;

	CHECK(pvm_mytid() > 0);
	if (first)
		copies(argv[0], "other", 1, &other);
	else
		other = pvm_parent();
	backtrace(callers, 16);	/* loads what it needs, once */
	counts = 1;
	seen = malloc(10);
	CHECK(seen != NULL && asked == 1);
	free(seen);
	for (int i = 0; i < 2; i++) {
		counts = 0;
		exchange(other, first, encodings[i], WARM, 1);
		asked = 0;
		counts = 1;
		exchange(other, first, encodings[i], ROUNDS, 0);
		counts = 0;
		if (asked > 0) {
			fprintf(stderr, "encoding %d: %ld in %d rounds, the first by\n", encodings[i], asked, ROUNDS);
			backtrace_symbols_fd(callers, depth, 2);
		}
		GIVES(0, asked);
	}
	/* The news of an end may ask for memory: nobody ends while the other counts. */
	if (first)
		send_one(other, OVER, PvmDataRaw, 0);
	else
		receive_one(other, OVER);
	if (first)
		ends(1);
	OK(pvm_exit());
	SAY("done");
	return 0;
}
