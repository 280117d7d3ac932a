/*
 * parvum.h - what a program may ask Parvum about itself.
 *
 * Beside the interface that the program speaks, and with the task that its own calls have made: nothing here enrols.
 * The functions are in libparvum (-lparvum). Structures grow at their ends only; the caller says how large its own
 * are, so that programs and libraries of different releases go together. See parvum_ledger(3).
 */
#ifndef PARVUM_H
#define PARVUM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the functions return when they cannot do it. */
#define PARVUM_NO_TASK		(-1)	/* the program has not enrolled, or has left */
#define PARVUM_BAD_ARGUMENT	(-5)

/* Routes by number; others may come, and parvum_route_name has the name of each. */
#define PARVUM_SELF		0	/* to the task itself */
#define PARVUM_SHM		1	/* shared memory */
#define PARVUM_TCP		2	/* a TCP connection between the two tasks */
#define PARVUM_ROUTED		3	/* task, daemon, task */
#define PARVUM_ROUTES		8	/* numbers are below this */
#define PARVUM_SEVERAL		(-1)	/* of the pair that stands for many */

/* Why messages to a peer take a route, or do not. */
#define PARVUM_UNUSED		0	/* nothing was sent there */
#define PARVUM_IN_USE		1
#define PARVUM_OTHER_HOST	2	/* the peer is on another host, and hosts share no memory */
#define PARVUM_NOT_NEEDED	3	/* there is a better one */
#define PARVUM_ASKED_OTHER	4	/* the program or PARVUM_ROUTE asked for another */
#define PARVUM_REFUSED		6	/* it could not be connected */

/* A peer and a route: what this task has exchanged with it over that route. */
struct parvum_pair {
	uint32_t size;			/* of this structure: set by the caller, and by the library to what it has filled */
	int32_t peer;			/* its tid; 0: all that found no ledger of their own, together */
	int32_t route;			/* PARVUM_SHM ... */
	uint8_t why[4];			/* the first four of why_routes, at its end */
	uint64_t sent;			/* messages */
	uint64_t sent_bytes;
	uint64_t arrived;		/* messages that have come, received yet or not */
	uint64_t arrived_bytes;
	uint64_t posted;		/* of those: a receive waited for them */
	uint64_t unexpected;		/* of those: none did */
	uint64_t copied_in;		/* bytes this task copied into the transport */
	uint64_t copied_out;		/* bytes it copied out of it */
	uint64_t fetched;		/* messages it fetched from where they lay at the sender */
	uint64_t fetched_bytes;
	uint64_t buffered_here;		/* bytes kept here until they were received */
	uint64_t buffered_at_sender;	/* bytes of its own messages kept here until they could leave */
	uint64_t credit_waits;		/* sends that waited for credit */
	uint64_t discarded;		/* messages that their sender allowed to be dropped, and were */
	uint64_t lost;			/* messages whose sender ended before the data had come */
	uint64_t refused;		/* messages that the system did not let be fetched; they were streamed */
	uint64_t waited_ns;		/* nanoseconds that this task slept for the peer */
	uint8_t why_routes[PARVUM_ROUTES];	/* by the number of each route: PARVUM_IN_USE ...; in the pair of the route in use */
};

/* The task as a whole. */
struct parvum_totals {
	uint32_t size;			/* as above */
	int32_t tid;
	uint64_t age_ns;		/* since it enrolled; the sum of the next three */
	uint64_t waiting_ns;		/* for messages, barriers, the machine */
	uint64_t communicating_ns;	/* in calls besides */
	uint64_t computing_ns;
	uint64_t sleeps;		/* waits that did not end before it slept */
	uint64_t sent;			/* from here on sums over all pairs; see there */
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
	uint64_t waiting_messages;	/* now: come, and taken by no receive */
	uint64_t waiting_bytes;		/* now: their data, as far as it is here */
	uint64_t waiting_sends;		/* now: not all of it has left */
};

/*
 * Writes the ledger of each pair, at most `room` of them, in the order in which they came into use; out[0].size says how
 * large each is. Returns how many there are, which may be more; with no room, `out` may be null.
 */
int parvum_ledger(struct parvum_pair *out, int room);

/* Writes the totals; out->size says how large the structure is. Returns 0. */
int parvum_totals(struct parvum_totals *out);

/* The name of a route, as PARVUM_ROUTE has it, or null: no such route, or no task. It stays as long as the process. */
const char *parvum_route_name(int route);

#ifdef __cplusplus
}
#endif

#endif
