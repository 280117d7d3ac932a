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

#endif
