/*
 * cmmd.h - CMMD on Parvum: message passing as on Thinking Machines' CM-5.
 *
 * Link with -lcmmd. The first CMMD call of a program joins the virtual machine. `parvum run -n N program` makes
 * N nodes, numbered from 0 in the order of their start. See cmmd(7), CMMD_send_block(3) and the pages that it names.
 */
#ifndef CMMD_H
#define CMMD_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The handle of an asynchronous operation; negative: the call failed, 0: there is none. */
typedef int CMMD_mcb;
/* The handle of one end of a channel; negative: the call failed. */
typedef int CMMD_channel;
/* Runs when an operation is complete. */
typedef void (*CMMD_handler)(CMMD_mcb *mcb, void *arg);
/* Returns nonzero if a message matches a receive; see CMMD_set_msg_matching_fcn(3). */
typedef int (*CMMD_matching_fcn)(int wanted_node, int wanted_tag, int node, int tag);

#define CMMD_ANY_NODE		(-1)
#define CMMD_ANY_TAG		(-1)
#define CMMD_DEFAULT_TAG	0
#define CMMD_ERRVAL		(-1)

/* Results of CMMD_get_errno. */
#define CMMD_ERR_NONE		0
#define CMMD_ERR_NO_RPORTS	1	/* no descriptor is free, or the receiver has too many unreceived messages: try later */
#define CMMD_ERR_BAD_NODE	2	/* there is no such node */
#define CMMD_ERR_BAD_TAG	3	/* a tag is 0 or more; only receives take CMMD_ANY_TAG */
#define CMMD_ERR_BAD_LENGTH	4	/* a length, stride or count is negative, or too large */
#define CMMD_ERR_BAD_BUFFER	5	/* a null pointer with a nonzero length */
#define CMMD_ERR_BAD_MCB	6	/* the handle is invalid */
#define CMMD_ERR_UNFINISHED	7	/* the operation, timer or channel is not complete */
#define CMMD_ERR_TRUNCATED	8	/* the message was longer than the buffer; the rest is lost */
#define CMMD_ERR_GONE		9	/* the other task has ended */
#define CMMD_ERR_NO_MACHINE	10	/* the virtual machine could not be reached or started, or was lost */
#define CMMD_ERR_NO_HOST	11	/* there is no host program, or only the other side may make this call */
#define CMMD_ERR_BAD_ARGUMENT	12	/* an invalid combiner, direction, mode or number */
#define CMMD_ERR_UNSUPPORTED	13	/* Parvum does not have this function */
#define CMMD_ERR_REFUSED	14	/* the virtual machine refused */
#define CMMD_ERR_BUSY		15	/* a matching function must not call CMMD */
#define CMMD_ERR_FORKED		16	/* this process was forked from a node, and is not a node */

/* Combiners. The combiners without a type are for int and every other type to which they apply. */
#define CMMD_combiner_add	1
#define CMMD_combiner_max	2
#define CMMD_combiner_min	3
#define CMMD_combiner_and	4
#define CMMD_combiner_ior	5
#define CMMD_combiner_xor	6
#define CMMD_combiner_uadd	17	/* unsigned */
#define CMMD_combiner_umax	18
#define CMMD_combiner_umin	19
#define CMMD_combiner_dadd	33	/* double */
#define CMMD_combiner_dmax	34
#define CMMD_combiner_dmin	35
#define CMMD_combiner_fadd	49	/* float */
#define CMMD_combiner_fmax	50
#define CMMD_combiner_fmin	51

/* Scans. */
#define CMMD_upward	0
#define CMMD_downward	1
#define CMMD_none	0
#define CMMD_start_bit	1
#define CMMD_segment_bit	2
#define CMMD_inclusive	0
#define CMMD_exclusive	1

/* Modes of files. */
#define CMMD_local	0
#define CMMD_independent	1
#define CMMD_sync_bc	2
#define CMMD_sync_seq	3
#define CMMD_system	4

/* --- Point to point: 0, or CMMD_ERRVAL; CMMD_send_and_receive and CMMD_swap: 1, or 0 when they fail --------------- */

int CMMD_send_block(int dest, int tag, const void *buf, int len);
int CMMD_send_noblock(int dest, int tag, const void *buf, int len);
CMMD_mcb CMMD_send_async(int dest, int tag, const void *buf, int len, CMMD_handler handler, void *arg);
int CMMD_receive_block(int src, int tag, void *buf, int len);
CMMD_mcb CMMD_receive_async(int src, int tag, void *buf, int len, CMMD_handler handler, void *arg);
int CMMD_send_and_receive(int src, int rtag, void *rbuf, int rlen, int dest, int stag, const void *sbuf, int slen);
int CMMD_swap(int node, void *rbuf, int rlen, const void *sbuf, int slen);
int CMMD_send(int dest, int tag, const void *buf, int len);
int CMMD_receive(int src, int tag, void *buf, int len);
int CMMD_send_short(int dest, int tag, const void *buf, int len);

/* The same with `count` pieces of `elem` bytes, `stride` bytes from start to start. */
int CMMD_send_block_v(int dest, int tag, const void *buf, int elem, int stride, int count);
int CMMD_send_noblock_v(int dest, int tag, const void *buf, int elem, int stride, int count);
CMMD_mcb CMMD_send_async_v(int dest, int tag, const void *buf, int elem, int stride, int count, CMMD_handler handler,
			   void *arg);
int CMMD_receive_block_v(int src, int tag, void *buf, int elem, int stride, int count);
CMMD_mcb CMMD_receive_async_v(int src, int tag, void *buf, int elem, int stride, int count, CMMD_handler handler,
			      void *arg);
int CMMD_send_and_receive_v(int src, int rtag, void *rbuf, int relem, int rstride, int rcount, int dest, int stag,
			    const void *sbuf, int selem, int sstride, int scount);
int CMMD_swap_v(int node, void *rbuf, int relem, int rstride, int rcount, const void *sbuf, int selem, int sstride,
		int scount);

/* --- Handles, probes, properties of messages ----------------------------------------------------------------------- */

void CMMD_msg_wait(CMMD_mcb mcb);
int CMMD_msg_done(CMMD_mcb mcb);
void CMMD_free_mcb(CMMD_mcb mcb);
void CMMD_all_msgs_wait(void);
int CMMD_all_msgs_done(void);
int CMMD_all_sends_done(void);
int CMMD_all_receives_done(void);
int CMMD_msg_pending(int src, int tag);
CMMD_mcb CMMD_mcb_pending(int src, int tag);
int CMMD_bytes_received(void);
int CMMD_bytes_sent(void);
int CMMD_msg_sender(void);
int CMMD_msg_tag(void);
int CMMD_mcb_bytes(CMMD_mcb mcb);
int CMMD_mcb_tag(CMMD_mcb mcb);
int CMMD_mcb_len(CMMD_mcb mcb);
int CMMD_mcb_node(CMMD_mcb mcb);
int CMMD_mcb_source(CMMD_mcb mcb);
int CMMD_mcb_dest(CMMD_mcb mcb);
void *CMMD_mcb_buffer(CMMD_mcb mcb);
int CMMD_poll(void);
int CMMD_enable_interrupts(void);
int CMMD_disable_interrupts(void);
int CMMD_available_sends(void);
int CMMD_available_receives(void);
void CMMD_set_msg_matching_fcn(CMMD_matching_fcn fcn);

/* --- All nodes together -------------------------------------------------------------------------------------------- */

void CMMD_sync_with_nodes(void);
void CMMD_sync_with_nodes_start(void);
int CMMD_sync_with_nodes_done(void);
void CMMD_sync_with_nodes_finish(void);
void CMMD_sync_host_with_nodes(void);
void CMMD_sync_with_host(void);

int CMMD_reduce_int(int value, int combiner);
unsigned CMMD_reduce_uint(unsigned value, int combiner);
long CMMD_reduce_lint(long value, int combiner);
unsigned long CMMD_reduce_luint(unsigned long value, int combiner);
double CMMD_reduce_float(float value, int combiner);
double CMMD_reduce_double(double value, int combiner);
int CMMD_reduce_v(void *dst, const void *src, int combiner, int elem_size, int n);

void CMMD_reduce_to_host_int(int value, int combiner);
void CMMD_reduce_to_host_uint(unsigned value, int combiner);
void CMMD_reduce_to_host_lint(long value, int combiner);
void CMMD_reduce_to_host_luint(unsigned long value, int combiner);
void CMMD_reduce_to_host_float(float value, int combiner);
void CMMD_reduce_to_host_double(double value, int combiner);
int CMMD_reduce_from_nodes_int(int value, int combiner);
unsigned CMMD_reduce_from_nodes_uint(unsigned value, int combiner);
long CMMD_reduce_from_nodes_lint(long value, int combiner);
unsigned long CMMD_reduce_from_nodes_luint(unsigned long value, int combiner);
double CMMD_reduce_from_nodes_float(float value, int combiner);
double CMMD_reduce_from_nodes_double(double value, int combiner);

int CMMD_scan_int(int value, int combiner, int direction, int mode, int bit, int kind);
unsigned CMMD_scan_uint(unsigned value, int combiner, int direction, int mode, int bit, int kind);
long CMMD_scan_lint(long value, int combiner, int direction, int mode, int bit, int kind);
unsigned long CMMD_scan_luint(unsigned long value, int combiner, int direction, int mode, int bit, int kind);
double CMMD_scan_float(float value, int combiner, int direction, int mode, int bit, int kind);
double CMMD_scan_double(double value, int combiner, int direction, int mode, int bit, int kind);

int CMMD_bc_to_nodes(const void *buf, int len);
int CMMD_receive_bc_from_node(void *buf, int len);
int CMMD_concat_with_nodes(const void *elem, void *out, int elem_len);
int CMMD_concat_elements_to_host(const void *elem, int len);
int CMMD_receive_element_from_host(void *elem, int len);
int CMMD_gather_from_nodes(void *all, int len);
int CMMD_distrib_to_nodes(const void *all, int len);
int CMMD_set_global_or(int bit);
int CMMD_get_global_or(void);

/* --- Host, environment, timers, files ------------------------------------------------------------------------------ */

int CMMD_enable(void);
int CMMD_enable_host(void);
int CMMD_am_node(void);		/* only in Parvum: 1 if CMMD_enable of a host has started this process */
int CMMD_host_node(void);
int CMMD_bc_from_host(const void *buf, int len);
int CMMD_receive_bc_from_host(void *buf, int len);
int CMMD_self_address(void);
int CMMD_partition_size(void);
int CMMD_reset_partition_size(int size);

int CMMD_node_timer_clear(int timer);
int CMMD_node_timer_start(int timer);
int CMMD_node_timer_stop(int timer);
double CMMD_node_timer_elapsed(int timer);
double CMMD_node_timer_busy(int timer);
double CMMD_node_timer_idle(int timer);

void CMMD_error(const char *format, ...)
#ifdef __GNUC__
	__attribute__((format(printf, 1, 2), noreturn))
#endif
	;
int CMMD_get_errno(void);
const char *CMMD_error_string(int number);
void CMMD_enable_safety(void);
void CMMD_disable_safety(void);
const char *CMMD_version(void);
int CMMD_fset_io_mode(FILE *file, int mode);
int CMMD_suspend(void);		/* these two always fail, because only their names are known */
int CMMD_resume(void);

/* --- Channels: prepared transfers between two nodes ---------------------------------------------------------------- */

CMMD_channel CMMD_open_send_channel(int dest, int id, const void *buf, int len);
CMMD_channel CMMD_open_receive_channel(int src, int id, void *buf, int len);
int CMMD_write_channel(CMMD_channel channel);
int CMMD_reset_channel(CMMD_channel channel);
int CMMD_send_channel_status(CMMD_channel channel);
int CMMD_receive_channel_status(CMMD_channel channel);
int CMMD_is_channel_writable(CMMD_channel channel);
int CMMD_is_channel_readable(CMMD_channel channel);
int CMMD_close_send_channel(CMMD_channel channel);
int CMMD_close_receive_channel(CMMD_channel channel);
int CMMD_all_channels_free(void);
void CMMD_all_channels_free_wait(void);

#ifdef __cplusplus
}
#endif

#endif
