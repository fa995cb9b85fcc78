/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some steps of a device trace, and nothing else of it: what lies outside is dropped as the file streams by, so that
 * memory goes with the steps asked for and not with the recording.
 *
 * Events are in no order, so the file is read three times: for the marks of the steps, for the correlations of calls
 * and device work that touch their time, and then for the events themselves. Kept are all marks; host events and calls
 * that touch the time from the first step's start to the last one's end, and each thread's next ones before and after,
 * which end its idle time; device work that was launched or ran in it; and the calls that launched that. Work launched
 * before and still running is needed although it is of no step asked for: the host may wait for it.
 */
#ifndef ORR_CONVERT_PYTORCH_KINETO_WINDOW_H
#define ORR_CONVERT_PYTORCH_KINETO_WINDOW_H

#include "base/number_map.h"
#include "convert/pytorch/kineto/parts.h"

enum kineto_window_pass { KINETO_WINDOW_MARKS, KINETO_WINDOW_LINKS, KINETO_WINDOW_EVENTS };

/* A thread's last end before the window, and its first start after it. */
struct kineto_window_edge {
    double before_us, after_us;
};

struct kineto_window {
    const int64_t *steps; /* pairs: first and last of a range */
    uint32_t pair_count;
    enum kineto_window_pass pass;
    double start_us, end_us;          /* of the first and of the last step asked for; start above end: none is there */
    struct number_map links;          /* correlations of the window */
    struct kineto_window_edge *edges; /* by thread */
    uint32_t edge_count, edge_capacity;
    struct mem *mem;
    double origin_us; /* start of the first op, annotation, kernel, copy or set of the whole recording */
    bool refused;     /* memory was */
};

void kineto_window_init(struct kineto_window *window, const int64_t *steps, uint32_t pair_count, struct mem *mem);
void kineto_window_free(struct kineto_window *window);

/* Whether the event is to be kept in this pass (in the first two never); learns from it. `args` may be NULL. */
bool kineto_window_takes(struct kineto_window *window, const struct kineto_event *event, const struct json_item *name,
                         const struct json_item *args);

#endif
