/* The calls of the engine's own interface as the programs of the comparison need them: blocking, of plain bytes. */
#ifndef ENGINE_H
#define ENGINE_H

#include "team_pvm.h"

/* Sends; the memory may be used again. Receives exactly so many bytes. */
void engine_send(int to, int tag, const void *data, size_t bytes);
void engine_recv(int from, int tag, void *data, size_t bytes);

/* Begins to send: the memory must stay as it is until that has ended. */
uint64_t engine_begin_send(int to, int tag, const void *data, size_t bytes);
void engine_end_send(uint64_t request);

/* Sends what its receiver shall buffer when it does not await it. */
void engine_send_buffered(int to, int tag, const void *data, size_t bytes);

/* Begins to send so that nobody buffers it; with `forced`, so that it is dropped when no receive is posted. */
uint64_t engine_begin_unbuffered(int to, int tag, const void *data, size_t bytes, int forced);

/* Posts a receive of exactly so many bytes; waits for it. */
uint64_t engine_post(int from, int tag, void *data, size_t bytes);
void engine_end_receive(uint64_t request);

/* Waits until a message has come, which stays where it is. */
void engine_probe(int from, int tag);

#endif
