/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Chakra ET files for the benchmark: just the node kinds it needs, straight to the wire format (spec analytical
 * §4.1). Independent of the library's own reader and writer on purpose: the benchmark's inputs must not change when
 * those do.
 */
#ifndef ORR_BENCH_ET_WRITER_H
#define ORR_BENCH_ET_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { ET_NODE_BYTES = 1024 };

struct et_writer {
    FILE *file;
    uint64_t next_id;
    uint64_t bytes; /* written so far */
    size_t used;    /* of node */
    uint8_t node[ET_NODE_BYTES];
};

bool et_open(struct et_writer *writer, const char *path);
bool et_close(struct et_writer *writer); /* false if any write failed */

/* A node depends on `parents` nodes, the last of them `parent` (UINT64_MAX = on none); the call returns its id. */
uint64_t et_compute(struct et_writer *writer, const char *name, uint64_t parent, unsigned parents,
                    uint64_t duration_us);
/* With one parent. */
uint64_t et_collective(struct et_writer *writer, const char *name, uint64_t parent, int type, uint64_t bytes);
/* A compute node as profilers leave them: two parents, inputs, more attributes than the simulator looks at. */
uint64_t et_operator(struct et_writer *writer, const char *name, uint64_t parent, uint64_t duration_us, uint64_t ops,
                     uint64_t tensor_bytes);

#endif
