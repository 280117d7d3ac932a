/* The core API in C: the table of functions on which Parvum's interfaces are built.
 *
 * A process has one engine, in libparvum.so.0, for all its interfaces. A program may call the engine itself, and also use
 * PVM or another interface: both are the same task with one id, and can exchange messages.
 *
 *     const struct parvum_table *engine = parvum_table();
 *
 * The table is an ABI: new functions are only added at its end. `size` is the number of bytes of a library's table, and
 * `version` changes if the meaning of a field changes. Any thread may call every function, and any thread may wait for
 * any request; a waiting thread does not block others. Unless a comment says otherwise, a function returns an enum parvum_status.
 * Times are nanoseconds, lengths are bytes. */
#ifndef PARVUM_ENGINE_H
#define PARVUM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARVUM_TABLE_VERSION 6

/* In a pattern: any task, any context. */
#define PARVUM_ANY_TASK (-1)
#define PARVUM_ANY_CONTEXT (-1)

/* In the handle of a received message: the data is still at the sender. */
#define PARVUM_REMOTE (UINT64_C(1) << 63)

enum parvum_status {
    PARVUM_STATUS_DONE = 0,
    PARVUM_STATUS_PENDING = 1,           /* the timeout has passed, or the operation is under way */
    PARVUM_STATUS_CANCELLED = 2,
    PARVUM_STATUS_CUT = 3,               /* the message was longer than its buffer */
    PARVUM_STATUS_UNKNOWN = -1,          /* no such task, request or message */
    PARVUM_STATUS_GONE = -2,             /* the task has ended */
    PARVUM_STATUS_NO_MACHINE = -3,       /* no daemon could be reached or started, or it died */
    PARVUM_STATUS_REFUSED = -4,          /* the daemon refused; the answer has the reason */
    PARVUM_STATUS_BAD_ARGUMENT = -5,
    PARVUM_STATUS_NO_MEMORY = -6
};

enum parvum_tags {
    PARVUM_TAG_ANY = 0,
    PARVUM_TAG_EXACTLY = 1,    /* the tag `tag`                                                */
    PARVUM_TAG_MASKED = 2,     /* tags whose bits `other` equal `tag`                          */
    PARVUM_TAG_WITHIN = 3,     /* tags from `tag` to `other`                                   */
    PARVUM_TAG_AMONG = 4       /* 0 to 29 by the bits of `tag`; 30 to `other` by its bit 30    */
};

/* The messages that a receive matches. */
struct parvum_pattern {
    int32_t from;              /* a task, or PARVUM_ANY_TASK                                   */
    uint32_t tags;             /* enum parvum_tags                                             */
    int32_t tag;
    int32_t other;
    int64_t context;           /* or PARVUM_ANY_CONTEXT                                        */
};

struct parvum_piece {
    const void *start;
    size_t length;
};

/* A part of the data that a member shows in a round, and where it is copied to. */
struct parvum_reading {
    uint32_t member;
    size_t from;               /* the first byte of the part                                   */
    void *out;
    size_t length;
};

/* The kind of a destination. */
enum parvum_room_kind {
    PARVUM_ROOM_BLOCK = 0,     /* the engine's memory, or `inside` of the message              */
    PARVUM_ROOM_MEMORY = 1,    /* `length` bytes at `start`; the rest of the data is lost      */
    PARVUM_ROOM_PIECES = 2,    /* `length` struct parvum_space at `start`, filled in order     */
    PARVUM_ROOM_LAZILY = 3,    /* a block, or the place at the sender: handle & PARVUM_REMOTE  */
    PARVUM_ROOM_BY_REFERENCE = 4,    /* the same, also in the sender's own memory: lost with it     */
    PARVUM_ROOM_FITTING = 5,   /* `length` bytes at `start` if the data is here and fits (then `data` is `start`), otherwise as 4 */
    PARVUM_ROOM_SCATTERED = 6  /* the copy function of one struct parvum_scattered at `start` */
};

/* The destination of a received message's data. The memory belongs to the receive until it is complete. */
struct parvum_room {
    uint32_t kind;             /* enum parvum_room_kind                                        */
    void *start;
    size_t length;
};

/* Data with a copy function of its owner, which copies any part. */
struct parvum_scattered {
    size_t length;             /* bytes of data                                                */
    /* Copies the data's bytes from `from` on: for a send to `bytes`, for a receive from `bytes`. Any thread may call it, one at a
     * time, inside the engine: it must not call this table. */
    void (*copy)(const void *layout, size_t from, uint8_t *bytes, size_t length);
    const void *layout;        /* the argument of `copy`                                       */
    void (*release)(const void *layout); /* called once, when the layout is no longer needed; may be NULL */
};

/* A piece of memory for data. The pieces of one receive must not overlap. */
struct parvum_space {
    void *start;
    size_t length;
};

enum parvum_buffering {
    PARVUM_BUFFER_BY_SIZE = 0,
    PARVUM_BUFFER_NOBODY = 1,
    PARVUM_BUFFER_AT_SENDER = 2,
    PARVUM_BUFFER_AT_RECEIVER = 3,
    PARVUM_BUFFER_OR_DISCARD = 4,
    PARVUM_BUFFER_AT_SENDER_IF_UNPOSTED = 5    /* PARVUM_STATUS_NO_MEMORY: PARVUM_CREDIT is used up      */
};

/* A message to send. */
struct parvum_outgoing {
    int32_t to;
    int32_t tag;
    uint32_t context;
    uint32_t meta;             /* the interface's word about the data; 0: plain bytes          */
    const struct parvum_piece *pieces;
    size_t count;
    uint32_t buffering;        /* enum parvum_buffering                                        */
    uint32_t completion;       /* 0: complete when the memory may be reused, 1: when matched   */
    void *owner;               /* owner of the pieces' memory until `release`; may be NULL     */
    void (*release)(void *owner);    /* called exactly once, from any thread                   */
};

/* A receive into the program's memory, as one of several that are received in order. */
struct parvum_wanted {
    struct parvum_pattern pattern;
    void *start;
    size_t length;
};

/* Properties of a message whose data is in its destination. */
struct parvum_came {
    uint64_t length;           /* of all data; data beyond the memory is lost                  */
    int32_t tag;
    uint32_t meta;
};

/* A message that was received or found. */
struct parvum_message {
    int32_t from;
    int32_t tag;
    uint32_t context;
    uint32_t meta;
    uint64_t length;           /* of all data                                                  */
    uint64_t handle;           /* found: its name; received: give it back if it is not 0       */
    const void *data;          /* if the message has a handle                                  */
    uint8_t inside[64];        /* otherwise the data, if the receive has no destination        */
};

struct parvum_enrolled {
    int32_t tid;
    int32_t parent;            /* its spawner; 0: none                                         */
};

enum parvum_call {
    PARVUM_CALL_RECEIVE = 1,
    PARVUM_CALL_SEND = 2,
    PARVUM_CALL_PROBE = 3,
    PARVUM_CALL_WAIT = 4,
    PARVUM_CALL_BARRIER = 5,
    PARVUM_CALL_MACHINE = 6,
    PARVUM_CALL_EXIT = 7,
    PARVUM_CALL_SERVE = 8,
    PARVUM_CALL_JOIN = 9
};

/* Results of `board_exchange` that are not the index of a request; sizes of a board. */
enum {
    PARVUM_BOARD_LATE = -1,         /* the timeout has passed                               */
    PARVUM_BOARD_COME = -2,         /* the round is complete                                */
    PARVUM_BOARD_CLOSED = -3,       /* it cannot complete: the group changed, or a member ended */
    PARVUM_BOARD_DISAGREED = -4,    /* the words of the members differ, or the data was too long */
    PARVUM_BOARD_MISSING = -16,     /* less a number: see `board_post`                      */
    PARVUM_BOARD_ROOM = 64 << 10,   /* bytes of a member's data in one round                */
    PARVUM_BOARD_MEMBERS = 64,
    PARVUM_BOARD_ANNOUNCED = 1 << 10,   /* bytes of an announcement                             */
    PARVUM_BOARD_ANNOUNCEMENTS = 127    /* announcements between two rounds                     */
};

/* The time limit of a call, and its description in `parvum why` and `parvum ps`. */
struct parvum_notes {
    int64_t limit;             /* negative: no limit; 0: do not wait                           */
    uint32_t call;             /* enum parvum_call; in the high half a word: see `describe`     */
    int32_t peer;              /* sender or receiver; PARVUM_ANY_TASK: any                     */
    int32_t tag;               /* -1: any                                                      */
    int32_t context;           /* -1: any                                                      */
};

/* A function among the members of a communicator. */
struct parvum_told {
    uint32_t function;         /* its number, as in the high half of `call`                    */
    uint32_t context;          /* of its messages                                              */
    uint32_t rank, size;       /* this task's rank, and the number of members                  */
    int32_t root;              /* -1: none                                                     */
    int32_t turn;              /* number of the communicator's collective; -1: none            */
    uint64_t bytes;            /* of data; UINT64_MAX: unknown                                 */
    uint64_t name[2];          /* the communicator's, in UTF-8, padded with zeros              */
};

struct parvum_progress {
    bool moved;                /* whether any message moved                                    */
    bool lost;                 /* whether the daemon is lost                                   */
};

struct parvum_table {
    uint32_t version;
    uint32_t size;
    /* Joins the virtual machine, and starts it if none is up. A repeated call returns the same answer. */
    int32_t (*enrol)(const char *interface, size_t length, struct parvum_enrolled *out);
    /* Delivers all sent messages, then leaves the virtual machine. */
    int32_t (*depart)(void);
    /* Starts a send. PARVUM_STATUS_DONE: it is complete. PARVUM_STATUS_PENDING: `request` is its request; unless the message has an
     * owner, its memory must stay valid until the request is complete. */
    int32_t (*send)(const struct parvum_outgoing *message, uint64_t *request);
    /* Receives the oldest match into its destination. PARVUM_STATUS_CUT: it was longer. PARVUM_STATUS_PENDING: the timeout passed. */
    int32_t (*receive)(const struct parvum_pattern *pattern, const struct parvum_room *room,
                       const struct parvum_notes *notes, struct parvum_message *out);
    /* Posts a receive; returns its request, 0 for invalid arguments. `flags`: 1 before other receives, 2 reported by
     * `next_completed`, 4 claims: a message that has already come is taken now, and copied by `fetch_claims` or `wait`. */
    uint64_t (*post)(const struct parvum_pattern *pattern, const struct parvum_room *room, uint32_t flags);
    /* Waits for a request, or tests it with a limit of 0. The request is invalid after its completion. */
    int32_t (*wait)(uint64_t request, const struct parvum_notes *notes, struct parvum_message *out);
    /* Waits until one of the requests is complete, and returns its index; `wait` returns its outcome. -1: the timeout has passed.
     * -2: an unexpected message has come that `seen` does not count; UINT64_MAX ignores such messages. */
    int64_t (*wait_any)(const uint64_t *requests, size_t count, uint64_t seen, const struct parvum_notes *notes);
    /* The same for all complete requests: their indices go to `over`, with room for `count`. Returns their number; 0: timeout. */
    size_t (*wait_some)(const uint64_t *requests, size_t count, const struct parvum_notes *notes, size_t *over);
    /* The same as `wait_any`, and takes the outcome in the same step: the message to `out`, its status to `status`. The request stays
     * for `post_again`, and is not complete until the next message. The status may be an error of that receive. -1: no request is
     * complete, and `status` says why. */
    int64_t (*wait_standing)(const uint64_t *requests, size_t count, const struct parvum_notes *notes,
                             struct parvum_message *out, int32_t *status);
    /* Posts the receive of such a request again. PARVUM_STATUS_UNKNOWN: there is no such request. */
    int32_t (*post_again)(uint64_t request, const struct parvum_pattern *pattern, const struct parvum_room *room);
    /* Cancels a receive. PARVUM_STATUS_UNKNOWN: it is too late. */
    int32_t (*cancel)(uint64_t request);
    /* Copies the data that a receive has claimed; 0: that all have claimed. Returns the number of claims that were not copied yet. */
    size_t (*fetch_claims)(uint64_t request);
    /* The next complete request that is to be reported, or 0. */
    uint64_t (*next_completed)(void);
    /* Finds the oldest unexpected match, which stays in the queue. */
    int32_t (*probe)(const struct parvum_pattern *pattern, const struct parvum_notes *notes, struct parvum_message *out);
    /* The same, and removes it from matching: only `take` can receive it, and `put_back` returns it to matching. */
    int32_t (*extract)(const struct parvum_pattern *pattern, const struct parvum_notes *notes, struct parvum_message *out);
    /* Returns an extracted message to matching. PARVUM_STATUS_UNKNOWN: it was already received or put back. */
    int32_t (*put_back)(uint64_t name);
    /* Calls `visit` with each unexpected message until it returns true. `visit` must not call the table. Does not wait. */
    int32_t (*find)(bool (*visit)(void *context, const struct parvum_message *message), void *context,
                    struct parvum_message *out);
    /* Receives the message that `probe`, `extract` or `find` named. PARVUM_STATUS_UNKNOWN: another thread has received it. */
    int32_t (*take)(uint64_t name, const struct parvum_room *room, const struct parvum_notes *notes,
                    struct parvum_message *out);
    /* Returns the data of a received message to the engine. */
    void (*give_back)(uint64_t handle);
    /* Makes progress, and returns. */
    struct parvum_progress (*progress)(void);
    /* Puts a message into this task's own queue. */
    int32_t (*inject)(const struct parvum_message *message, const void *data, size_t length);
    /* Sends a request to the daemon, in the encoding of Parvum's own interfaces. */
    int32_t (*ask)(const void *request, size_t length, const struct parvum_notes *notes,
                   void (*answer)(void *context, const void *bytes, size_t length), void *context);
    /* Prefers a route: 0 the best, 1 direct, 2 through the daemon. PARVUM_ROUTE in the environment overrides it. */
    int32_t (*prefer)(uint32_t route);
    /* Copies the counters; returns their number. */
    size_t (*counters)(uint64_t *out, size_t room);
    /* Copies the message of the last failure, UTF-8 without a final null; returns its length. */
    size_t (*last_error)(char *out, size_t room);
    /* Writes descriptors for poll into `out`; if one is readable, `progress` may have work. */
    size_t (*descriptors)(int32_t *out, size_t room);
    /* Copies data that is at the sender, from byte `from` on. PARVUM_STATUS_GONE: the sender has ended, and its data is lost. */
    int32_t (*read_remote)(uint64_t handle, uint64_t from, void *out, size_t length);
    /* Fetches data that is at the sender; the message then has another handle. */
    int32_t (*fetch_remote)(uint64_t handle, const struct parvum_notes *notes, struct parvum_message *out);
    /* Waits until an unexpected message has come that `seen` does not count; returns the number so far. */
    uint64_t (*await_arrival)(uint64_t seen, const struct parvum_notes *notes);
    /* Guarantees that a descriptor becomes readable if something comes after this call. */
    void (*watch)(void);
    /* Starts a virtual machine with these arguments, each ended by a null. PARVUM_STATUS_UNKNOWN: one was already up. */
    int32_t (*start_machine)(const char *arguments, size_t length);
    /* The task of the resource manager; 0: none. */
    int32_t (*manager)(void);
    /* Copies the entry of a tracer of all tasks in the mailbox; returns its length, 0 for none. */
    size_t (*tracer)(void *out, size_t room);
    /* Sends one message to `count` tasks, to each with its own tag unless `tags` is NULL; `statuses` and `requests` have an element
     * for each task. */
    int32_t (*multicast)(const struct parvum_outgoing *message, const int32_t *to, const int32_t *tags, size_t count,
                         int32_t *statuses, uint64_t *requests);
    /* Records that the program has seen the messages that `seen` counts. */
    void (*looked)(uint64_t seen);
    /* Wakes a task whose program computes, because a request waits for it here. */
    void (*summon)(int32_t to);
    /* For a separate thread of an interface: waits until another task wakes this one, or with `all` until anything comes, and makes
     * progress if the program computes. */
    int32_t (*serve)(int64_t limit, uint32_t all);
    /* The counters of the task, for atomic loads; NULL: no task. */
    const uint64_t *(*cells)(void);
    /* Nonzero: no thread is inside the engine now. */
    int32_t (*is_free)(void);
    /* Counts a note to this task in its cells[30]. PARVUM_STATUS_UNKNOWN: the two tasks share no memory. */
    int32_t (*notify)(int32_t to);
    /* The table of the process's second endpoint, which has its own id, engine and lock. It answers requests while the program
     * computes. Its `enrol` joins it to the virtual machine. */
    const struct parvum_table *(*service)(void);
    /* Opens the board (shared-memory segment) of a group of `members` tasks of this host; this task is number `member`. The members
     * show each other data in rounds. All members must call it after they have joined the group; it waits for all.
     * PARVUM_STATUS_UNKNOWN: no member gets a board. */
    int32_t (*board_open)(const char *group, size_t length, uint32_t member, uint32_t members,
                          const struct parvum_notes *notes, uint64_t *board);
    /* Shows the pieces with a word, PARVUM_BOARD_ROOM bytes at most, and waits until all members have shown theirs. Then it copies
     * the readings, as `board_read`. Returns one of PARVUM_BOARD_..., or the index of a complete request among `awaited`. After such
     * an index and after PARVUM_BOARD_LATE, the same call continues the wait. */
    int64_t (*board_exchange)(uint64_t board, uint32_t word, const struct parvum_piece *pieces, size_t count,
                              const struct parvum_reading *readings, size_t parts, const uint64_t *requests, size_t awaited,
                              const struct parvum_notes *notes);
    /* Takes part in an operation of the next `entries` announcements, PARVUM_BOARD_ANNOUNCED bytes at most each. It writes the
     * announcement number `own`, unless `own` is negative. Then it waits for the announcements in `readings` (their `member` is the
     * number) and copies them. All members call it for all operations, in one order. At most PARVUM_BOARD_ANNOUNCEMENTS may lie between
     * two rounds. Returns the same as `board_exchange`, or PARVUM_BOARD_MISSING less a number. The announcement of this number is then
     * missing, because a member has left, but may still come. With `always` 1, the announcement is made even then. `writers` are the
     * tasks of the announcements in their order; the task at `except` does not count. */
    int64_t (*board_post)(uint64_t board, uint32_t word, size_t entries, int64_t own, uint32_t always, const void *data, size_t length,
                          const struct parvum_reading *readings, size_t parts, const int32_t *writers, size_t except,
                          const uint64_t *requests, size_t awaited, const struct parvum_notes *notes);
    /* Copies the data that a member showed in the last round, from byte `from` on. */
    int32_t (*board_read)(uint64_t board, uint32_t member, size_t from, void *out, size_t length);
    /* Frees a board. */
    void (*board_close)(uint64_t board);
    /* Receives the wanted messages in order, as long as the next one is there or comes while this task spins. Returns the number
     * received; the others are not posted. Does not sleep. */
    size_t (*receive_each)(const struct parvum_wanted *wanted, size_t count, const struct parvum_notes *notes,
                           struct parvum_came *came);
    /* Publishes what the task is about to do, from any thread. Observers read it during a wait with the same function in the high half
     * of its notes' call, and the same context. */
    void (*tell)(const struct parvum_told *told);
    /* 1: the process counts as failed if it ends before a call with 0; it also does not leave by itself before that. */
    void (*oblige)(int32_t obliged);
    /* Publishes that the task waits as in the notes, outside the calls of this table; NULL: it continues. Takes no
     * lock. */
    void (*show_wait)(const struct parvum_notes *notes);
    /* 1: every member of a board can read every other member's memory. */
    int32_t (*board_reaches)(uint64_t board);
    /* Copies from a member's memory, at an address that the member has shown and does not change. PARVUM_STATUS_BAD_ARGUMENT:
     * the kernel refuses; PARVUM_STATUS_GONE: the member has ended. */
    int32_t (*board_fetch)(uint64_t board, uint32_t member, uint64_t address, void *out, size_t length);
    /* As `send`, for data outside the message's pieces. The data is copied before the call returns, so its memory need not stay
     * valid, whatever the status. */
    int32_t (*send_scattered)(const struct parvum_outgoing *message, const struct parvum_scattered *data, uint64_t *request);
    /* Describes the words of an interface for observers, one on a line, each line with its newline: "interface NAME", then "call NAME" for
     * each call that waits. Once for each text, before or after `enrol`. Returns the number of the last word before the text. The first
     * call of the text has the next number, in the high half of the notes' `call`. UINT32_MAX: there is no room. */
    uint32_t (*describe)(const char *text, size_t length);
    /* Hands a message of one piece from this task to itself to a receive that begins now; the memory of the two must not overlap.
     * PARVUM_STATUS_PENDING: nothing has happened, because the usual calls are needed. Otherwise as `receive`. */
    int32_t (*pass_to_self)(const struct parvum_outgoing *message, const struct parvum_pattern *pattern,
                            const struct parvum_room *room, struct parvum_message *out);
};

/* The engine of this process. */
const struct parvum_table *parvum_table(void);

#ifdef __cplusplus
}
#endif

#endif
