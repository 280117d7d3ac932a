/* The table of functions in libparvum.so.0, as crates/engine/api/src/table.rs lays it out. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct enrolled {
	int32_t tid, parent;
};

struct piece {
	const void *start;
	size_t length;
};

struct outgoing {
	int32_t to, tag;
	uint32_t context, meta;
	const struct piece *pieces;
	size_t count;
	uint32_t buffering, completion;
	void *owner;
	void (*release)(void *);
};

struct pattern {
	int32_t from;
	uint32_t tags;
	int32_t tag, other;
	int64_t context;
};

/* Where data shall lie: kind 1 is memory. */
struct room {
	uint32_t kind;
	void *start;
	size_t length;
};

struct notes {
	int64_t limit;
	uint32_t call;
	int32_t peer, tag, context;
};

struct message {
	int32_t from, tag;
	uint32_t context, meta;
	uint64_t length, handle;
	const uint8_t *data;
	uint8_t in_line[64];
};

struct table {
	uint32_t version, size;
	int (*enrol)(const char *interface, size_t length, struct enrolled *out);
	int (*depart)(void);
	int (*send)(const struct outgoing *message, uint64_t *request);
	int (*receive)(const struct pattern *pattern, const struct room *room, const struct notes *notes,
		struct message *out);
	uint64_t (*post)(const struct pattern *pattern, const struct room *room, uint32_t flags);
	int (*wait)(uint64_t request, const struct notes *notes, struct message *out);
};

#endif
