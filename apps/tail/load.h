/* Long messages that are on their way while the short ones are timed. */
#ifndef LOAD_H
#define LOAD_H

#ifdef TAIL_LOAD
/* Makes ready, adds one message each way to those on their way, and waits until none is left. */
void load_begin(int partner);
void load_step(int partner);
void load_end(void);
#else
static inline void load_begin(int partner) { (void)partner; }
static inline void load_step(int partner) { (void)partner; }
static inline void load_end(void) { }
#endif

#endif
