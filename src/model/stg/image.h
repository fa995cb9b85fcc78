/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage's trace as bytes: records encoded once (Chakra v0.0.4, spec simai §12.3), with holes for the group of a
 * collective and the peer of a message. A rank's file is the image with its holes filled, which is little more than a
 * copy. The bytes are those protobuf would write.
 */
#ifndef ORR_MODEL_STG_IMAGE_H
#define ORR_MODEL_STG_IMAGE_H

#include "model/stg/nodes.h"
#include "model/stg/text.h"

/* How traces are to be written. */
struct stg_form {
    bool legacy;       /* comm_group (int32) in place of pg_name (text) */
    uint32_t tag_base; /* of the first message */
    uint32_t copies;   /* of every node, one a micro-batch, when they are folded; else 1 */
};

/* A run of whole records, or one record with a hole between its first `before` bytes and the `after` behind them. */
struct stg_piece {
    size_t offset, before, after;
    enum stg_node_kind kind; /* STG_NODE_COMP: whole records; else what the hole is for */
    enum stg_symbol symbol;
    uint32_t peer; /* stage */
};

struct stg_image {
    struct stg_text bytes;
    struct stg_piece *pieces;
    uint32_t count, capacity;
    uint64_t nodes; /* records less the metadata */
};

ORR_MUST_CHECK enum orr_status stg_image_build(const struct stg_nodes *nodes, const struct stg_model *model,
                                               const struct stg_form *form, struct stg_image *image,
                                               struct orr_error *err);
void stg_image_free(struct stg_image *image);

/* The file of one rank: `groups` by symbol, and the rank that stands where this one does on another stage. */
struct stg_rank {
    uint32_t groups[STG_SYMBOL_COUNT];
    uint32_t number;
    uint32_t stage_size; /* ranks of a stage */
};

void stg_image_fill(const struct stg_image *image, const struct stg_form *form, const struct stg_rank *rank,
                    struct stg_text *file);

#endif
