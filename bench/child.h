/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One measured piece of work in a process of its own, so that what the kernel says of its time and memory is the work's
 * alone, and one that dies takes only its own row along.
 */
#ifndef ORR_BENCH_CHILD_H
#define ORR_BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>

struct bench_usage {
    double user_s, system_s, peak_bytes;
    int status;    /* as wait gives it: 0 when the work said that it went well */
    bool complete; /* the status is 0 and the whole result came back */
};

/* Runs `work` in a child, which fills `result`; its `size` bytes (0: none, and `result` is NULL) come back here. False
 * when there was no child to ask. */
bool bench_child(bool (*work)(const void *context, void *result), const void *context, void *result, size_t size,
                 struct bench_usage *usage);

#endif
