/*
 * parvum.h - counters of a program's own task.
 *
 * The functions use the task that the program's MPI, PVM or other calls have made. They do not join the virtual machine.
 * They are in libparvum (-lparvum). New versions only append members to structures. The caller sets the size of its
 * structures, so programs and libraries of different releases work together. See parvum_ledger(3).
 */
#ifndef PARVUM_H
#define PARVUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Errors. */
#define PARVUM_NO_TASK		(-1)	/* the program has not joined, or has left */
#define PARVUM_BAD_ARGUMENT	(-5)

/* Numbers of routes; later versions may have more. parvum_route_name returns their names. */
#define PARVUM_SELF		0	/* to the task itself */
#define PARVUM_SHM		1	/* shared memory */
#define PARVUM_TCP		2	/* a TCP connection between the two tasks */
#define PARVUM_ROUTED		3	/* task, daemon, task */
#define PARVUM_ROUTES		8	/* all numbers are below this */
#define PARVUM_SEVERAL		(-1)	/* the pair of several peers */

/* The state of a route to a peer, or the reason why it is not used. */
#define PARVUM_UNUSED		0	/* no message was sent to the peer */
#define PARVUM_IN_USE		1
#define PARVUM_OTHER_HOST	2	/* the peer is on another host, without shared memory */
#define PARVUM_NOT_NEEDED	3	/* there is a better route */
#define PARVUM_ASKED_OTHER	4	/* the program or PARVUM_ROUTE selected another route */
#define PARVUM_REFUSED		6	/* the connection failed */

/* The messages of this task with one peer over one route. */
struct parvum_pair {
	uint32_t size;			/* bytes of this structure: set by the caller; the library sets the bytes that it has filled */
	int32_t peer;			/* its tid; 0: all further peers together */
	int32_t route;			/* PARVUM_SHM ... */
	uint8_t why[4];			/* the first four of why_routes */
	uint64_t sent;			/* messages */
	uint64_t sent_bytes;
	uint64_t arrived;		/* messages that have arrived, received or not */
	uint64_t arrived_bytes;
	uint64_t posted;		/* arrived messages for which a receive waited */
	uint64_t unexpected;		/* arrived messages without a waiting receive */
	uint64_t copied_in;		/* bytes that this task copied into the transport */
	uint64_t copied_out;		/* bytes that this task copied out of the transport */
	uint64_t fetched;		/* messages that this task copied from the sender's memory */
	uint64_t fetched_bytes;
	uint64_t buffered_here;		/* bytes buffered here until they were received */
	uint64_t buffered_at_sender;	/* bytes of this task's messages, buffered here until they could leave */
	uint64_t credit_waits;		/* sends that waited at the send buffer limit */
	uint64_t discarded;		/* messages that were dropped because the sender allowed it */
	uint64_t lost;			/* messages whose sender ended before all data had arrived */
	uint64_t refused;		/* messages that were streamed because the system did not allow the copy */
	uint64_t waited_ns;		/* nanoseconds that this task slept for the peer */
	uint8_t why_routes[PARVUM_ROUTES];	/* for each route: PARVUM_IN_USE ...; only in the pair of the route in use */
};

/* The task as a whole. */
struct parvum_totals {
	uint32_t size;			/* as above */
	int32_t tid;
	uint64_t age_ns;		/* since the join; the sum of the next three */
	uint64_t waiting_ns;		/* waits for messages, barriers and the daemon */
	uint64_t communicating_ns;	/* other time in calls */
	uint64_t computing_ns;
	uint64_t sleeps;		/* waits that slept */
	uint64_t sent;			/* this and the following: sums over all pairs */
	uint64_t sent_bytes;
	uint64_t received;		/* messages that the program has received */
	uint64_t received_bytes;
	uint64_t arrived;
	uint64_t arrived_bytes;
	uint64_t posted;
	uint64_t unexpected;
	uint64_t copied_in;
	uint64_t copied_out;
	uint64_t fetched;
	uint64_t fetched_bytes;
	uint64_t buffered_here;
	uint64_t buffered_at_sender;
	uint64_t credit_waits;
	uint64_t discarded;
	uint64_t lost;
	uint64_t refused;
	uint64_t waiting_messages;	/* now: arrived, but not received */
	uint64_t waiting_bytes;		/* now: bytes of these messages that are here */
	uint64_t waiting_sends;		/* now: sends that are not complete */
};

/*
 * Writes the counters of each pair, at most `room` of them, in the order of first use. out[0].size is the size of one
 * structure. Returns the number of pairs, which may be more than `room`; if `room` is 0, `out` may be null.
 */
int parvum_ledger(struct parvum_pair *out, int room);

/* Writes the totals; out->size is the size of the structure. Returns 0. */
int parvum_totals(struct parvum_totals *out);

/* The name of a route, as in PARVUM_ROUTE, or null if there is no such route or no task. The string is never freed. */
const char *parvum_route_name(int route);

#ifdef __cplusplus
}
#endif

#endif
