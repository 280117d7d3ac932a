/*
 * containers.h - message containers, as the operating system Choices had them, for C.
 *
 * A container is a mailbox of one task: it buffers messages until they are received. Its task binds it to a name; others look the
 * name up, once, and get a representative, a handle that sends. The functions are in libcontainers (-lcontainers); each has a
 * page in the manual. See containers(7). For C++ there is containers.hpp.
 *
 * Functions that give an int or a long give 0, a number or a length when they have done it, and an error's number, which is
 * negative, when not. Those that give a pointer give null then. ch_error() is the number of the thread's last failure.
 * Times are milliseconds, negative for ever; lengths are bytes. Text is UTF-8.
 */
#ifndef CONTAINERS_H
#define CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What can go wrong. */
#define CH_EARGUMENT	(-1)	/* an argument makes no sense */
#define CH_EMACHINE	(-2)	/* there is no machine, and none could be started */
#define CH_ENAMETAKEN	(-3)	/* the name is bound, and who bound it lives */
#define CH_EUNBOUND	(-4)	/* nobody has bound the name in time */
#define CH_EGONE	(-5)	/* the container or its task is gone: look the name up again */
#define CH_EROOM	(-6)	/* the message is longer than the room, and stays in the container */
#define CH_ETOOLARGE	(-7)	/* the message is longer than the container may ever hold */
#define CH_EFULL	(-8)	/* the container is full, and nobody can wait */
#define CH_EEMPTY	(-9)	/* no message is there, or none came in time */
#define CH_ETIMEDOUT	(-10)	/* the time was over, and the timer's handler gave up */
#define CH_EBUFFER	(-11)	/* all buffers of a pool are in use, and it may not grow; or some are, and it is to end */
#define CH_EFORKED	(-12)	/* it belongs to the process that this one was forked from */
#define CH_EUNABLE	(-13)	/* the other side or this port cannot do it */
#define CH_EREFUSED	(-14)	/* the machine refused: see ch_reason() */

int ch_error(void);
const char *ch_error_text(int error);
size_t ch_reason(char *out, size_t room);

typedef struct ch_container ch_container;
typedef struct ch_representative ch_representative;
typedef struct ch_reference ch_reference;
typedef struct ch_group ch_group;	/* what a task adds containers to */
typedef struct ch_many ch_many;		/* the members that it had when it was looked up */
typedef struct ch_state ch_state;

/* Who sent a message. */
typedef struct ch_sender {
	int task;			/* the engine's id, as in PVM */
	unsigned int call;		/* the number of a call; 0: nobody waits for an answer */
	uint64_t place;			/* the address, where a port has its own */
	long length;			/* bytes of the message, also of one that had no room */
} ch_sender;

/* This task's id. Joins the machine, as the first call of any kind does. */
int ch_my_task(void);

/* Containers. 0 stands for no bound of its own. */
ch_container *ch_container_create(const char *name, size_t most_bytes, int most_messages);
ch_container *ch_container_for_tag(int tag);
int ch_container_number(const ch_container *container);
int ch_container_destroy(ch_container *container);

/* Names. A null name is the container's own. */
int ch_bind(const char *name, const ch_container *container);
int ch_bind_many(const char *const *names, const ch_container *const *containers, int number);
int ch_unbind(const char *name);
ch_representative *ch_lookup(const char *name, long milliseconds);
int ch_lookup_many(const char *const *names, int number, long milliseconds, ch_representative **out);
uint64_t ch_exchanges(void);

/* Representatives. */
ch_representative *ch_representative_for_tag(int task, int tag);
int ch_task(const ch_representative *to);
int ch_number(const ch_representative *to);
int ch_is_local(const ch_representative *to);
int ch_release(ch_representative *to);

/* Messages. A state may be null. */
int ch_send(const ch_representative *to, const void *data, size_t size, ch_state *state);
int ch_send_reference(const ch_representative *to, const void *data, size_t size);
int ch_oneway(const ch_representative *to, const void *data, size_t size, ch_state *state);
long ch_receive(const ch_container *container, void *out, size_t room, ch_sender *from);
long ch_try_receive(const ch_container *container, void *out, size_t room, ch_sender *from);
long ch_receive_within(const ch_container *container, void *out, size_t room, ch_sender *from, long milliseconds);

/* Messages that stay where they are until they are read. */
ch_reference *ch_receive_reference(const ch_container *container, long milliseconds, ch_sender *from);
long ch_reference_length(const ch_reference *reference);
int ch_reference_is_with_sender(const ch_reference *reference);
int ch_reference_read(const ch_reference *reference, size_t from, void *out, size_t size);
int ch_reference_release(ch_reference *reference);

/* Conversations: what protocol, and what to do when time passes without an answer. */
#define CH_RELIABLE	0
#define CH_DATAGRAM	1

#define CH_GIVE_UP	0
#define CH_AGAIN	1
#define CH_WAIT_ON	2

ch_state *ch_state_create(int protocol);
int ch_state_destroy(ch_state *state);
int ch_set_timer(ch_state *state, long milliseconds, int (*on_expiry)(ch_state *state));
int ch_state_set_data(ch_state *state, void *data);
void *ch_state_data(const ch_state *state);
int ch_state_expiries(const ch_state *state);
int ch_state_repeats(const ch_state *state);
int ch_state_dropped(const ch_state *state);

/* Calls and answers. */
long ch_rpc(const ch_representative *server, const void *request, size_t size, void *answer, size_t room,
	    ch_state *state);
int ch_reply(const ch_sender *to, const void *data, size_t size);

/* Groups. */
ch_group *ch_group_create(const char *name);
int ch_group_add(const ch_group *group, const ch_container *container);
int ch_group_remove(const ch_group *group, const ch_container *container);
int ch_group_release(ch_group *group);

ch_many *ch_lookup_group(const char *name, int least, long milliseconds);
ch_many *ch_many_create(ch_representative *const *members, int number);
int ch_many_size(const ch_many *group);
int ch_many_task(const ch_many *group, int place);
int ch_send_many(const ch_many *group, const void *data, size_t size);
int ch_multirpc(const ch_many *servers, const void *request, size_t size,
		int (*on_answer)(int place, const void *answer, long length, void *own), void *own, int want,
		ch_state *state);
int ch_many_release(ch_many *group);

/* Buffers of one size: so many at the start, and more if the pool may grow. */
typedef struct ch_pool ch_pool;
ch_pool *ch_pool_create(size_t size, int number, int may_grow);
int ch_pool_free(const ch_pool *pool);
int ch_pool_grown(const ch_pool *pool);
int ch_pool_destroy(ch_pool *pool);
void *ch_buffer_get(ch_pool *pool, int may_grow);
int ch_buffer_put(ch_pool *pool, void *buffer);

/* Programs that run together. */
int ch_gang_run(const char *program, const char *const *args, int number, int *tasks);

#ifdef __cplusplus
}
#endif

#endif
