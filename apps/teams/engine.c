#include "engine.h"

#include <parvum_engine.h>

/* Messages of the engine's own have a context that PVM never gives out. */
enum { CONTEXT = 0x4c41 };

static const struct parvum_table *engine(void)
{
    static const struct parvum_table *table;
    if (table == NULL) {
        table = parvum_table();
        if (table->version != PARVUM_TABLE_VERSION || table->size < sizeof *table)
            fail("libparvum.so.0 has another table; build both from one release");
    }
    return table;
}

static void engine_ok(int32_t status, const char *call)
{
    if (status == PARVUM_STATUS_DONE) return;
    char text[256];
    size_t length = engine()->last_error(text, sizeof text);
    fail("the engine's %s failed with code %d: %.*s", call, (int)status, (int)(length < sizeof text ? length : sizeof text), text);
}

static uint64_t begin(int to, int tag, const void *data, size_t bytes, uint32_t buffering)
{
    struct parvum_piece piece = { data, bytes };
    struct parvum_outgoing message = { .to = team_tids[to], .tag = tag, .context = CONTEXT, .pieces = &piece, .count = 1,
                                       .buffering = buffering };
    uint64_t request;
    int32_t status = engine()->send(&message, &request);
    if (status != PARVUM_STATUS_PENDING) engine_ok(status, "send");
    return request;
}

uint64_t engine_begin_send(int to, int tag, const void *data, size_t bytes)
{
    return begin(to, tag, data, bytes, PARVUM_BUFFER_BY_SIZE);
}

uint64_t engine_begin_unbuffered(int to, int tag, const void *data, size_t bytes, int forced)
{
    return begin(to, tag, data, bytes, forced ? PARVUM_BUFFER_OR_DISCARD : PARVUM_BUFFER_NOBODY);
}

void engine_send_buffered(int to, int tag, const void *data, size_t bytes)
{
    engine_end_send(begin(to, tag, data, bytes, PARVUM_BUFFER_AT_RECEIVER));
}

void engine_end_send(uint64_t request)
{
    if (request == 0) return;
    struct parvum_notes notes = { -1, PARVUM_CALL_SEND, PARVUM_ANY_TASK, -1, -1 };
    struct parvum_message sent;
    engine_ok(engine()->wait(request, &notes, &sent), "wait");
}

void engine_send(int to, int tag, const void *data, size_t bytes)
{
    engine_end_send(engine_begin_send(to, tag, data, bytes));
}

static struct parvum_pattern only(int from, int tag)
{
    return (struct parvum_pattern){ team_tids[from], PARVUM_TAG_EXACTLY, tag, 0, CONTEXT };
}

uint64_t engine_post(int from, int tag, void *data, size_t bytes)
{
    struct parvum_pattern pattern = only(from, tag);
    struct parvum_room room = { PARVUM_ROOM_MEMORY, data, bytes };
    return engine()->post(&pattern, &room, 0);
}

void engine_end_receive(uint64_t request)
{
    struct parvum_notes notes = { -1, PARVUM_CALL_WAIT, PARVUM_ANY_TASK, -1, -1 };
    struct parvum_message message;
    engine_ok(engine()->wait(request, &notes, &message), "wait");
}

void engine_probe(int from, int tag)
{
    struct parvum_pattern pattern = only(from, tag);
    struct parvum_notes notes = { -1, PARVUM_CALL_PROBE, team_tids[from], tag, CONTEXT };
    struct parvum_message message;
    engine_ok(engine()->probe(&pattern, &notes, &message), "probe");
}

void engine_recv(int from, int tag, void *data, size_t bytes)
{
    struct parvum_pattern pattern = only(from, tag);
    struct parvum_notes notes = { -1, PARVUM_CALL_RECEIVE, team_tids[from], tag, CONTEXT };
    struct parvum_message message;
    struct parvum_room room = { PARVUM_ROOM_MEMORY, data, bytes };
    engine_ok(engine()->receive(&pattern, &room, &notes, &message), "receive");
    if (message.length != bytes) fail("%llu bytes came, %zu were expected", (unsigned long long)message.length, bytes);
}
