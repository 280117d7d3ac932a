/* The engine's own interface in C: the table of functions on which Parvum's interfaces stand.
 *
 * A process has one engine, in libparvum.so.0, however many interfaces it uses. A program may call the engine itself,
 * beside PVM or another interface: both are the same task, with one id, and messages cross from one to the other.
 *
 *     const struct parvum_table *engine = parvum_table();
 *
 * The table is an ABI: functions are only ever added at its end. `size` says how many bytes of it a library has, and
 * `version` changes when the meaning of a field does. Every function may be called from any thread, and any thread may wait for
 * any request; who waits keeps nobody out. Unless said otherwise a function returns an enum parvum_status. Times are nanoseconds, lengths bytes. */
#ifndef PARVUM_ENGINE_H
#define PARVUM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARVUM_TABLE_VERSION 4

/* In a pattern: from any task, in any context. */
#define PARVUM_ANY_TASK (-1)
#define PARVUM_ANY_CONTEXT (-1)

/* In the handle of a received message: its data is still with its sender. */
#define PARVUM_REMOTE (UINT64_C(1) << 63)

enum parvum_status {
    PARVUM_STATUS_DONE = 0,
    PARVUM_STATUS_PENDING = 1,           /* the time was over first, or the operation is under way */
    PARVUM_STATUS_CANCELLED = 2,
    PARVUM_STATUS_CUT = 3,               /* the message was longer than the memory for it */
    PARVUM_STATUS_UNKNOWN = -1,          /* there is no such task, request or message */
    PARVUM_STATUS_GONE = -2,             /* the task is gone */
    PARVUM_STATUS_NO_MACHINE = -3,       /* there is no daemon and none could be started, or it died */
    PARVUM_STATUS_REFUSED = -4,          /* the daemon refused; the answer says why */
    PARVUM_STATUS_BAD_ARGUMENT = -5,
    PARVUM_STATUS_NO_MEMORY = -6
};

enum parvum_tags {
    PARVUM_TAG_ANY = 0,
    PARVUM_TAG_EXACTLY = 1,    /* `tag` itself                                                 */
    PARVUM_TAG_MASKED = 2,     /* where the bits `other` of the tag equal `tag`                */
    PARVUM_TAG_WITHIN = 3,     /* from `tag` to `other`                                        */
    PARVUM_TAG_AMONG = 4       /* 0 to 29 by the bits of `tag`; 30 to `other` by its bit 30     */
};

/* Which messages a receive takes. */
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

/* How a room is meant. */
enum parvum_room_kind {
    PARVUM_ROOM_BLOCK = 0,     /* the engine's memory, or `inside` of the message              */
    PARVUM_ROOM_MEMORY = 1,    /* `length` bytes at `start`; what does not fit is lost         */
    PARVUM_ROOM_PIECES = 2,    /* `length` struct parvum_space at `start`, filled in order     */
    PARVUM_ROOM_LAZILY = 3,    /* a block, or where the sender has put it: handle & PARVUM_REMOTE */
    PARVUM_ROOM_BY_REFERENCE = 4,    /* the same, in the sender's own memory as well: lost with it  */
    PARVUM_ROOM_FITTING = 5,   /* `length` bytes at `start` if it is here and fits (`data` is `start` then), else as 4 */
    PARVUM_ROOM_SCATTERED = 6  /* where one struct parvum_scattered at `start` copies it to     */
};

/* Where the data of a received message shall lie. The memory is the receive's until that is over. */
struct parvum_room {
    uint32_t kind;             /* enum parvum_room_kind                                        */
    void *start;
    size_t length;
};

/* Data that its owner copies by itself, any part of it at a time. */
struct parvum_scattered {
    size_t length;             /* bytes of data                                                */
    /* Copies the data's bytes from `from` on: those of a message that is sent to `bytes`, of one that is received from there.
     * Called from any thread, by one at a time, in the midst of the engine's work: it calls nothing of this table. */
    void (*copy)(const void *layout, size_t from, uint8_t *bytes, size_t length);
    const void *layout;        /* what it is called with                                       */
    void (*release)(const void *layout); /* once, when the layout is not needed any more; may be NULL */
};

/* A piece of memory that data shall lie in. Pieces of one receive must not overlap. */
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

/* A message to be sent. */
struct parvum_outgoing {
    int32_t to;
    int32_t tag;
    uint32_t context;
    uint32_t meta;             /* the interface's word about the data; 0: plain bytes          */
    const struct parvum_piece *pieces;
    size_t count;
    uint32_t buffering;        /* enum parvum_buffering                                        */
    uint32_t completion;       /* 0 when the memory may be reused, 1 when it was matched       */
    void *owner;               /* owns the memory of the pieces until `release`; may be NULL   */
    void (*release)(void *owner);    /* called exactly once, from any thread                   */
};

/* A receive into memory of the program's, as one of several that are taken one after the other. */
struct parvum_wanted {
    struct parvum_pattern pattern;
    void *start;
    size_t length;
};

/* What is known of a message whose data lies where it was wanted. */
struct parvum_came {
    uint64_t length;           /* of all its data; more than there was memory for is lost      */
    int32_t tag;
    uint32_t meta;
};

/* A message that was received or found. */
struct parvum_message {
    int32_t from;
    int32_t tag;
    uint32_t context;
    uint32_t meta;
    uint64_t length;           /* of all its data                                              */
    uint64_t handle;           /* found: its name; received: give it back when it is not 0     */
    const void *data;          /* when it has a handle                                         */
    uint8_t inside[64];        /* the data otherwise, when the receive named no memory         */
};

struct parvum_enrolled {
    int32_t tid;
    int32_t parent;            /* who spawned it; 0 for nobody                                 */
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

/* What `board_turn` answers when it is not the place of a request; and what a board has room for. */
enum {
    PARVUM_BOARD_LATE = -1,         /* the time is over                                     */
    PARVUM_BOARD_COME = -2,         /* the turn has come                                    */
    PARVUM_BOARD_CLOSED = -3,       /* it never will: the group changed, or a member ended  */
    PARVUM_BOARD_DISAGREED = -4,    /* not all show the same word; or the data was too long */
    PARVUM_BOARD_ROOM = 64 << 10,   /* bytes that a member shows in one turn                */
    PARVUM_BOARD_MEMBERS = 64,
    PARVUM_BOARD_ANNOUNCED = 1 << 10,   /* bytes of an announcement                             */
    PARVUM_BOARD_ANNOUNCEMENTS = 127    /* of them between two turns                            */
};

/* How long a call may wait, and what `parvum why` and `parvum ps` say of it meanwhile. */
struct parvum_notes {
    int64_t limit;             /* negative: without limit; 0: look once                        */
    uint32_t call;             /* enum parvum_call; in the high half a word: see `describe`     */
    int32_t peer;              /* from or to whom; PARVUM_ANY_TASK anyone                      */
    int32_t tag;               /* -1: any                                                      */
    int32_t context;           /* -1: any                                                      */
};

/* What a function does among the members of a communicator. */
struct parvum_told {
    uint32_t function;         /* by the number that the high half of `call` has               */
    uint32_t context;          /* of its messages                                              */
    uint32_t rank, size;       /* this task, and how many members there are                    */
    int32_t root;              /* -1: there is none                                            */
    int32_t turn;              /* which of the communicator's operations; -1: none             */
    uint64_t bytes;            /* of data; UINT64_MAX: no such number                          */
    uint64_t name[2];          /* the communicator's, in UTF-8, padded with zeros              */
};

struct parvum_progress {
    bool moved;                /* whether anything did                                         */
    bool lost;                 /* whether the daemon is                                        */
};

struct parvum_table {
    uint32_t version;
    uint32_t size;
    /* Joins the machine, starting it if need be; again: the same answer. */
    int32_t (*enrol)(const char *interface, size_t length, struct parvum_enrolled *out);
    /* Hands over all that was sent, then leaves the machine. */
    int32_t (*depart)(void);
    /* Starts to send. PARVUM_STATUS_DONE: it is over. PARVUM_STATUS_PENDING: `request` names it; unless the message has an owner its
     * memory must stay until it is over. */
    int32_t (*send)(const struct parvum_outgoing *message, uint64_t *request);
    /* Receives the oldest match, to where the room says. PARVUM_STATUS_CUT: it was longer. PARVUM_STATUS_PENDING: the time was over. */
    int32_t (*receive)(const struct parvum_pattern *pattern, const struct parvum_room *room,
                       const struct parvum_notes *notes, struct parvum_message *out);
    /* Posts a receive; its request, 0 for arguments that make no sense. `flags`: 1 before other receives, 2 reported by
     * `next_completed`, 4 claims: a message that has come already is taken now, and copied by `fetch_claims` or `wait`. */
    uint64_t (*post)(const struct parvum_pattern *pattern, const struct parvum_room *room, uint32_t flags);
    /* Waits for a request, or tests it with a limit of 0; it is stale when it is over. */
    int32_t (*wait)(uint64_t request, const struct parvum_notes *notes, struct parvum_message *out);
    /* Waits until one of the requests is over, and gives its place; `wait` gives its outcome. -1: the time is over. -2: an
     * unexpected message has come that `seen` does not count; UINT64_MAX to be told of none. */
    int64_t (*wait_any)(const uint64_t *requests, size_t count, uint64_t seen, const struct parvum_notes *notes);
    /* The same for all that are over: their places go to `over`, which has room for `count`. How many they are; 0: the time is over. */
    size_t (*wait_some)(const uint64_t *requests, size_t count, const struct parvum_notes *notes, size_t *over);
    /* Takes a receive back. PARVUM_STATUS_UNKNOWN: it is too late. */
    int32_t (*cancel)(uint64_t request);
    /* Copies what a receive has claimed; with 0 what all have. Returns how many had claimed something and not copied it. */
    size_t (*fetch_claims)(uint64_t request);
    /* The next announced request that is over, or 0. */
    uint64_t (*next_completed)(void);
    /* Finds the oldest unexpected match; it stays where it is. */
    int32_t (*probe)(const struct parvum_pattern *pattern, const struct parvum_notes *notes, struct parvum_message *out);
    /* The same, and takes it out of matching: nobody else finds it until `take` receives it or `put_back` puts it back. */
    int32_t (*extract)(const struct parvum_pattern *pattern, const struct parvum_notes *notes, struct parvum_message *out);
    /* Puts an extracted message back. PARVUM_STATUS_UNKNOWN: it was received or put back. */
    int32_t (*put_back)(uint64_t name);
    /* Shows each unexpected message to `visit`, which must not call the table, until it returns true. Does not wait. */
    int32_t (*find)(bool (*visit)(void *context, const struct parvum_message *message), void *context,
                    struct parvum_message *out);
    /* Receives the message that `probe`, `extract` or `find` named. PARVUM_STATUS_UNKNOWN: somebody else has. */
    int32_t (*take)(uint64_t name, const struct parvum_room *room, const struct parvum_notes *notes,
                    struct parvum_message *out);
    /* Gives the data of a received message back. */
    void (*give_back)(uint64_t handle);
    /* Does what there is to do, and returns. */
    struct parvum_progress (*progress)(void);
    /* Puts a message into this task's own queue. */
    int32_t (*inject)(const struct parvum_message *message, const void *data, size_t length);
    /* Asks the daemon, in the encoding of Parvum's own interfaces. */
    int32_t (*ask)(const void *request, size_t length, const struct parvum_notes *notes,
                   void (*answer)(void *context, const void *bytes, size_t length), void *context);
    /* Prefers a route: 0 the best, 1 direct, 2 through the daemon. PARVUM_ROUTE in the environment goes before. */
    int32_t (*prefer)(uint32_t route);
    /* Copies the counters; returns how many there are. */
    size_t (*counters)(uint64_t *out, size_t room);
    /* Copies the text of the last failure, UTF-8 without a final zero; returns its length. */
    size_t (*last_error)(char *out, size_t room);
    /* Puts descriptors to watch into `out`; a readable one means that `progress` may have something to do. */
    size_t (*descriptors)(int32_t *out, size_t room);
    /* Copies data that is with its sender, from byte `from` on. PARVUM_STATUS_GONE: the sender is, and the data with it. */
    int32_t (*read_remote)(uint64_t handle, uint64_t from, void *out, size_t length);
    /* Gets data that is with its sender here; the message has another handle then. */
    int32_t (*fetch_remote)(uint64_t handle, const struct parvum_notes *notes, struct parvum_message *out);
    /* Waits until an unexpected message has come that `seen` does not count; returns how many there have been. */
    uint64_t (*await_arrival)(uint64_t seen, const struct parvum_notes *notes);
    /* Promises that a descriptor becomes readable when something comes after this call. */
    void (*watch)(void);
    /* Starts a machine with these arguments, each ended by a zero byte. PARVUM_STATUS_UNKNOWN: there was one already. */
    int32_t (*start_machine)(const char *arguments, size_t length);
    /* The task that plays the resource manager; 0 for none. */
    int32_t (*manager)(void);
    /* Copies what a tracer of all tasks has put into the mailbox; returns its length, 0 for none. */
    size_t (*tracer)(void *out, size_t room);
    /* Sends one message to `count` tasks, to each under its own tag unless `tags` is NULL; `statuses` and `requests` have an element
     * for each. */
    int32_t (*multicast)(const struct parvum_outgoing *message, const int32_t *to, const int32_t *tags, size_t count,
                         int32_t *statuses, uint64_t *requests);
    /* Says that the program has looked at the messages that `seen` counts. */
    void (*looked)(uint64_t seen);
    /* Calls a task whose program computes: something waits for it here. */
    void (*summon)(int32_t to);
    /* For a thread of an interface's own: waits until this task is called, or with `all` until something comes, and does
     * what there is to do if the program computes. */
    int32_t (*serve)(int64_t limit, uint32_t all);
    /* The task's own counters, to be read by atomic loads; NULL for no task. */
    const uint64_t *(*cells)(void);
    /* Not 0: nobody is inside the engine at this moment. */
    int32_t (*is_free)(void);
    /* Counts in that task's cells[30] that a note was sent to it. PARVUM_STATUS_UNKNOWN: there is no memory between the two. */
    int32_t (*notify)(int32_t to);
    /* The table of the process's second endpoint, with an id, an engine and a lock of its own, for what is to be answered while
     * the program computes. Its `enrol` joins it to the machine. */
    const struct parvum_table *(*service)(void);
    /* Opens the board of a group of `members` tasks of this host, of which this one is number `member`: where they show each
     * other data, turn by turn. All call it, when each has joined the group; it waits for all. PARVUM_STATUS_UNKNOWN:
     * there is none, for nobody. */
    int32_t (*board_open)(const char *group, size_t length, uint32_t member, uint32_t members,
                          const struct parvum_notes *notes, uint64_t *board);
    /* Shows the pieces under a word, PARVUM_BOARD_ROOM bytes at most, and waits until all members have shown theirs: one of
     * PARVUM_BOARD_...; or the place of one of the `awaited` requests that is over. After that and after PARVUM_BOARD_LATE
     * the same call goes on waiting. */
    int64_t (*board_turn)(uint64_t board, uint32_t word, const struct parvum_piece *pieces, size_t count,
                          const uint64_t *requests, size_t awaited, const struct parvum_notes *notes);
    /* Copies what a member has shown in the last turn, from byte `from` on. */
    int32_t (*board_read)(uint64_t board, uint32_t member, size_t from, void *out, size_t length);
    /* Forgets a board. */
    void (*board_close)(uint64_t board);
    /* Receives what is wanted, one after the other, as long as each is there or comes while this task spins for it. How many have
     * come; nothing is posted for the others. Does not sleep. */
    size_t (*receive_each)(const struct parvum_wanted *wanted, size_t count, const struct parvum_notes *notes,
                           struct parvum_came *came);
    /* Shows onlookers what the task is about to do, from any thread. It is looked at while a wait lasts that has the same function
     * in the high half of its notes' call, and the same context. */
    void (*tell)(const struct parvum_told *told);
    /* 1: the process has failed if it ends before this is called with 0; nor does it depart by itself before that. */
    void (*oblige)(int32_t obliged);
    /* Shows onlookers that the task waits as the notes say, though not in a call of this table; NULL: it goes on. It waits for no
     * lock. */
    void (*show_wait)(const struct parvum_notes *notes);
    /* 1: every member of a board can read every other's memory. */
    int32_t (*board_reaches)(uint64_t board);
    /* Copies out of a member's memory, at an address that it has shown and keeps as it is meanwhile. PARVUM_STATUS_BAD_ARGUMENT:
     * the kernel refuses; PARVUM_STATUS_GONE: the member has ended. */
    int32_t (*board_fetch)(uint64_t board, uint32_t member, uint64_t address, void *out, size_t length);
    /* As `send`, of data that lies in none of the message's pieces. It is copied before this returns, so its memory need not stay,
     * whatever the answer. */
    int32_t (*send_scattered)(const struct parvum_outgoing *message, const struct parvum_scattered *data, uint64_t *request);
    /* Announces data, PARVUM_BOARD_ANNOUNCED bytes at most, to all other members of a board under a word, and waits for nobody: one of
     * PARVUM_BOARD_... Between two turns there are PARVUM_BOARD_ANNOUNCEMENTS at most; all members hear them in one order. */
    int64_t (*board_announce)(uint64_t board, uint32_t word, const void *data, size_t length);
    /* Waits for the next announcement, of this length and under this word, and copies it. Answers as `board_turn`. */
    int64_t (*board_hear)(uint64_t board, uint32_t word, void *out, size_t length, const uint64_t *requests, size_t awaited,
                          const struct parvum_notes *notes);
    /* Describes the words of an interface for onlookers, one in a line, each line with its end: "interface NAME", then "call NAME" for
     * each call that waits. Once for each text, before or after `enrol`. Returns the number of the last word before: the first call of the
     * text has the next number, in the high half of the notes' `call`. UINT32_MAX: there is no room. */
    uint32_t (*describe)(const char *text, size_t length);
};

/* The engine of this process. */
const struct parvum_table *parvum_table(void);

#ifdef __cplusplus
}
#endif

#endif
