/*
 * containers.h - message containers of the operating system Choices, for C.
 *
 * A container is a mailbox of one task, which buffers messages until they are received. The task binds the container to a name.
 * Others look the name up once and get a representative, a handle for sends. The functions are in libcontainers (-lcontainers); each has a
 * page in the manual. See containers(7). For C++ there is containers.hpp.
 *
 * Functions that return an int or a long return 0, a number or a length, or a negative error number if they fail.
 * Functions that return a pointer return null if they fail. ch_error() is the number of the thread's last failure.
 * Times are milliseconds, and a negative time means no limit. Lengths are bytes. Text is UTF-8.
 */
#ifndef CONTAINERS_H
#define CONTAINERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors. */
#define CH_EARGUMENT	(-1)	/* an argument is invalid */
#define CH_EMACHINE	(-2)	/* no virtual machine could be reached or started */
#define CH_ENAMETAKEN	(-3)	/* the name is bound, and its owner is alive */
#define CH_EUNBOUND	(-4)	/* no task has bound the name in time */
#define CH_EGONE	(-5)	/* the container or its task is gone: look the name up again */
#define CH_EROOM	(-6)	/* the message is longer than the buffer, and stays in the container */
#define CH_ETOOLARGE	(-7)	/* the message is longer than the container's limit */
#define CH_EFULL	(-8)	/* the container is full, and the caller cannot wait */
#define CH_EEMPTY	(-9)	/* the container is empty, or no message came in time */
#define CH_ETIMEDOUT	(-10)	/* the timer expired, and its handler gave up */
#define CH_EBUFFER	(-11)	/* all buffers of a pool are in use, or a pool with used buffers should end */
#define CH_EFORKED	(-12)	/* the handle belongs to the parent of this forked process */
#define CH_EUNABLE	(-13)	/* the other side or this port does not support the call */
#define CH_EREFUSED	(-14)	/* the virtual machine refused: see ch_reason() */

int ch_error(void);
const char *ch_error_text(int error);
size_t ch_reason(char *out, size_t room);

typedef struct ch_container ch_container;
typedef struct ch_representative ch_representative;
typedef struct ch_reference ch_reference;
typedef struct ch_group ch_group;	/* a group to which a task adds containers */
typedef struct ch_many ch_many;		/* the members of a group at its lookup */
typedef struct ch_state ch_state;

/* The sender of a message. */
typedef struct ch_sender {
	int task;			/* the engine's id, as in PVM */
	unsigned int call;		/* the number of a call; 0: the message is not a call */
	uint64_t place;			/* the address, if a port has its own */
	long length;			/* bytes of the message, even if the buffer is too small */
} ch_sender;

/* This task's id. Joins the virtual machine, as any first call does. */
int ch_my_task(void);

/* Containers. A limit of 0 means that the container has no limit. */
ch_container *ch_container_create(const char *name, size_t most_bytes, int most_messages);
ch_container *ch_container_for_tag(int tag);
int ch_container_number(const ch_container *container);
int ch_container_destroy(ch_container *container);

/* Names. A null name means the container's own name. */
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

/* Messages that stay at the sender until they are read. */
ch_reference *ch_receive_reference(const ch_container *container, long milliseconds, ch_sender *from);
long ch_reference_length(const ch_reference *reference);
int ch_reference_is_with_sender(const ch_reference *reference);
int ch_reference_read(const ch_reference *reference, size_t from, void *out, size_t size);
int ch_reference_release(ch_reference *reference);

/* Conversations: the protocol, and the handler for a time without an answer. */
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

/* Buffers of one size: a number at the start, and more if the pool may grow. */
typedef struct ch_pool ch_pool;
ch_pool *ch_pool_create(size_t size, int number, int may_grow);
int ch_pool_free(const ch_pool *pool);
int ch_pool_grown(const ch_pool *pool);
int ch_pool_destroy(ch_pool *pool);
void *ch_buffer_get(ch_pool *pool, int may_grow);
int ch_buffer_put(ch_pool *pool, void *buffer);

/* Programs with gang scheduling. */
int ch_gang_run(const char *program, const char *const *args, int number, int *tasks);

#ifdef __cplusplus
}
#endif

#endif
