/* Two threads of one program use PVM in turns, and both at once for calls that do not wait. */
#include "check.h"

#include <pthread.h>

enum { PING = 1, PONG, STOP };
#define ROUNDS 2000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, partner;

static void *work(void *which)
{
	int mine = *(int *)which, value;

	for (int i = mine; i < ROUNDS; i += 2) {
		pthread_mutex_lock(&lock);
		while (turn != i)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		CHECK(pvm_initsend(i % 3) > 0);
		OK(pvm_pkint(&i, 1, 1));
		OK(pvm_send(partner, PING));
		CHECK(pvm_recv(partner, PONG) > 0);
		OK(pvm_upkint(&value, 1, 1));
		GIVES(i, value);
		pthread_mutex_lock(&lock);
		turn = i + 1;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *look(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(pvm_mytid() > 0);
		GIVES(0, pvm_probe(-1, STOP));
		CHECK(pvm_getopt(PvmRoute) > 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	int even = 0, odd = 1, value, tag, tid;

	if (argc > 1) {
		do {
			OK(pvm_bufinfo(pvm_recv(pvm_parent(), -1), NULL, &tag, &tid));
			if (tag == PING) {
				OK(pvm_upkint(&value, 1, 1));
				CHECK(pvm_initsend(PvmDataDefault) > 0);
				OK(pvm_pkint(&value, 1, 1));
				OK(pvm_send(tid, PONG));
			}
		} while (tag != STOP);
		OK(pvm_exit());
		return 0;
	}
	copies(argv[0], "partner", 1, &partner);
	CHECK(pthread_create(&threads[0], NULL, work, &even) == 0);
	CHECK(pthread_create(&threads[1], NULL, work, &odd) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, look, NULL) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(pvm_initsend(PvmDataDefault) > 0);
	OK(pvm_send(partner, STOP));
	ends(1);
	return 0;
}
