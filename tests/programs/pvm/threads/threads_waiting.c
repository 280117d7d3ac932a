/* Threads that wait in PVM at the same time: each gets what it waits for, in whatever order that comes, and others work meanwhile. */
#include "check.h"

#include <pthread.h>

enum { GO = 1, STOP, FIRST = 100 };
#define WAITING 4
#define ROUNDS 500
#define MANY 20000

static int partner, me;

/* Waits for its own tag, and says so to the partner, which then answers the next thread. */
static void *wait_for_tag(void *which)
{
	int tag = FIRST + *(int *)which, value, length, from, had;

	for (int i = 0; i < ROUNDS; i++) {
		OK(pvm_precv(partner, tag, &value, 1, PVM_INT, &from, &had, &length));
		GIVES(i, value);
		OK(pvm_psend(partner, tag, &value, 1, PVM_INT));
	}
	return NULL;
}

/* Works while the others wait. */
static void *send_to_itself(void *unused)
{
	int value, from, tag, length;

	(void)unused;
	for (int i = 0; i < MANY; i++) {
		OK(pvm_psend(me, GO, &i, 1, PVM_INT));
		OK(pvm_precv(me, GO, &value, 1, PVM_INT, &from, &tag, &length));
		GIVES(i, value);
	}
	return NULL;
}

static void *send(void *unused)
{
	(void)unused;
	for (int i = 0; i < MANY; i++)
		OK(pvm_psend(partner, GO, &i, 1, PVM_INT));
	return NULL;
}

static void *receive(void *unused)
{
	int value, from, tag, length;

	(void)unused;
	for (int i = 0; i < MANY; i++) {
		OK(pvm_precv(partner, GO, &value, 1, PVM_INT, &from, &tag, &length));
		GIVES(i, value);
	}
	return NULL;
}

/* Two more calls that wait: for a message that is only looked at, and for whoever comes. */
static void *receive_with_time_limit(void *unused)
{
	struct timeval brief = { 0, 1000 };

	(void)unused;
	for (int i = 0; i < 50; i++)
		GIVES(0, pvm_trecv(-1, STOP, &brief));
	return NULL;
}

/* The other task: answers the last thread first, all of them in each round; then sends all back. */
static void answer(int parent)
{
	int value, from, tag, length;

	for (int i = 0; i < ROUNDS; i++)
		for (int which = WAITING - 1; which >= 0; which--) {
			OK(pvm_psend(parent, FIRST + which, &i, 1, PVM_INT));
			OK(pvm_precv(parent, FIRST + which, &value, 1, PVM_INT, &from, &tag, &length));
			GIVES(i, value);
		}
	for (int i = 0; i < MANY; i++) {
		OK(pvm_precv(parent, GO, &value, 1, PVM_INT, &from, &tag, &length));
		OK(pvm_psend(parent, GO, &value, 1, PVM_INT));
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[WAITING + 2];
	int which[WAITING];

	me = pvm_mytid();
	if (argc > 1) {
		answer(pvm_parent());
		OK(pvm_exit());
		return 0;
	}
	copies(argv[0], "partner", 1, &partner);
	for (int i = 0; i < WAITING; i++) {
		which[i] = i;
		GIVES(0, pthread_create(&threads[i], NULL, wait_for_tag, &which[i]));
	}
	GIVES(0, pthread_create(&threads[WAITING], NULL, send_to_itself, NULL));
	GIVES(0, pthread_create(&threads[WAITING + 1], NULL, receive_with_time_limit, NULL));
	for (int i = 0; i < WAITING + 2; i++)
		GIVES(0, pthread_join(threads[i], NULL));
	GIVES(0, pthread_create(&threads[0], NULL, receive, NULL));
	GIVES(0, pthread_create(&threads[1], NULL, send, NULL));
	for (int i = 0; i < 2; i++)
		GIVES(0, pthread_join(threads[i], NULL));
	ends(1);
	OK(pvm_exit());
	return 0;
}
