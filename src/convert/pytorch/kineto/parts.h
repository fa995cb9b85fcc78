/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of the Kineto reader: kineto.c walks the document, event.c reads one event, info.c
 * what is said about the whole recording. ready/scan.c takes events by the same means, one at a time, and keeps none.
 */
#ifndef ORR_CONVERT_PYTORCH_KINETO_PARTS_H
#define ORR_CONVERT_PYTORCH_KINETO_PARTS_H

#include "convert/pytorch/kineto/kineto.h"
#include "io/json_stream.h"

struct kineto_window;

struct kineto_reader {
    struct kineto_trace *trace;
    struct kineto_window *window; /* only what it takes is kept; NULL: everything */
    uint64_t untimed;             /* events of the kind that is kept, but without a time */
    uint64_t unusable;            /* elements of traceEvents that are no objects */
    /* The last two texts of pid and tid: events of one thread stand together, so most need no search. */
    char tid_text[64], pid_text[64];
    uint32_t tid_length, pid_length, tid_number, pid_number;
};

/* Empty; NULL when memory is refused. kineto_free gives it back. */
struct kineto_trace *kineto_trace_new(struct mem *mem);

/* Puts the events in the order of their starts, equal ones as they are. False when memory is refused. */
ORR_MUST_CHECK bool kineto_sort(struct kineto_trace *trace);

/* Adds the event, if it is one to be kept, and its time in any case. False when memory is refused. */
ORR_MUST_CHECK bool kineto_event_add(struct kineto_reader *reader, uint32_t index, const struct json_item *item);

/* "distributedInfo" and "deviceProperties"; other keys are passed over. False when memory is refused. */
ORR_MUST_CHECK bool kineto_info_add(struct kineto_trace *trace, const char *key, const struct json_item *item);

/* An integer however it is written: a number without fraction, or text holding one, decimal or with 0x. False when it
 * is none; `value` is then untouched. */
bool kineto_integer(const struct json_item *item, int64_t *value);

#endif
