/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workload that every rank runs alike: compute and collectives in an order, before it is written as one ET file a
 * rank. What differs between ranks is only which communicator group a collective belongs to, so the nodes are kept
 * once; a pipeline has one for each stage. The readers of text workloads (text.h, simai.h) build it; ids are places in
 * it.
 *
 * Owns its nodes, dependencies and names. Knows nothing of the formats it comes from.
 */
#ifndef ORR_CONVERT_TEXT_WORK_H
#define ORR_CONVERT_TEXT_WORK_H

#include "convert/convert.h"
#include "convert/text/layout.h"
#include "trace/et_write.h"

/* The ranks of a node's collective: all, or those of a layout (convert/text/layout.h). */
enum work_group {
    WORK_ALL,
    WORK_TP,
    WORK_DP,
    WORK_EP,
    WORK_DP_EP,
    WORK_CP,
    WORK_SHARD,   /* of those that share weights, the ones that divide them */
    WORK_REPLICA, /* and the ones that have the same part */
    WORK_GROUPS
};

/* A network dimension takes part or not (Chakra's involved_dim). Eight entries: a longer list than the network has
 * dimensions is harmless, a shorter one leaves the dimensions behind its end out. */
enum { WORK_DIMS = 8, WORK_ALL_DIMS = 0xff };

#define WORK_NONE UINT32_MAX

enum { WORK_HOST = UINT8_MAX };

struct work_node {
    const char *name;
    uint64_t duration_us;
    uint64_t num_ops, tensor_bytes; /* of compute; both 0: not told */
    int64_t comm_bytes;
    int64_t peer;       /* TRACE_SEND, TRACE_RECV: how many ranks further the other one is */
    uint32_t tag;       /* the same */
    uint32_t first_dep; /* in deps */
    uint32_t dep_count;
    int32_t comm_type; /* Chakra's numbers */
    uint8_t type;      /* TRACE_COMP, TRACE_COLL, TRACE_SEND or TRACE_RECV */
    uint8_t group;     /* enum work_group */
    uint8_t dims;      /* bit d = dimension d; WORK_ALL_DIMS = not said in the file */
    uint8_t stream;    /* of a work with streams: on which it runs; WORK_HOST: on the host */
    uint8_t mark;      /* whatever the builder wants to remember */
};

struct work {
    struct mem *mem;
    struct arena arena; /* names */
    struct work_node *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *deps; /* node indices */
    uint32_t dep_count, dep_capacity;
    struct work_layout layouts[WORK_GROUPS];
    /* Metadata of each file. */
    const char *version;
    const char *schema;        /* NULL = none */
    struct et_text input_file; /* text NULL = none */
    bool plain;                /* Chakra's own: ids run on over the ranks, no attribute but type and size */
    bool streams;              /* nodes name their streams, which run side by side */
    uint32_t idle; /* ranks of the machine behind those of the job: a group of the whole job is not all ranks then */
};

void work_init(struct work *work, struct mem *mem);
void work_free(struct work *work);

/* Appends a node that depends on `deps` (places of earlier nodes) in that order; `name` must outlive the work. */
ORR_MUST_CHECK enum orr_status work_add(struct work *work, const struct work_node *node, const uint32_t *deps,
                                        uint32_t dep_count, uint32_t *place, struct orr_error *err);

/* Writes PREFIX.0.et … (convert/rank_path.h; a plain work's PREFIX is taken as it is) and, where nodes belong to
 * groups, PREFIX.groups.json. */
ORR_MUST_CHECK enum orr_status work_write(const struct work *work, const char *prefix, uint32_t ranks,
                                          struct convert_summary *summary, struct orr_error *err);

/* Parts of the same, for a pipeline, whose stages have a work each: the files of ranks `first` to `end` - 1 of `ranks`,
 * counted in `summary`, and the groups, which are the same in all stages. */
ORR_MUST_CHECK enum orr_status work_write_ranks(const struct work *work, const char *prefix, uint32_t first,
                                                uint32_t end, uint32_t ranks, struct convert_summary *summary,
                                                struct orr_error *err);
ORR_MUST_CHECK enum orr_status work_write_groups(const struct work *work, const char *prefix, uint32_t ranks,
                                                 struct orr_error *err);
/* Whether there are groups, and what is in their file. */
bool work_has_groups(const struct work *work, uint32_t ranks);
void work_groups_put(const struct work *work, uint32_t ranks, FILE *stream);
/* Counts the file of one rank. */
void work_count(const struct work *work, struct convert_summary *summary);
/* The bytes of one rank's file, into a stream whose errors the caller looks at. */
ORR_MUST_CHECK enum orr_status work_write_stream(const struct work *work, FILE *stream, uint32_t rank, uint32_t ranks,
                                                 struct orr_error *err);

/* ---- communicator groups ---- */

/* The id of the first group of each kind, 0: there is none. Ids start at 1, since 0 is all ranks, and those of a kind
 * follow each other; a work with streams has all kinds that it lays out, others those that some node uses. */
struct work_group_ids {
    uint32_t first[WORK_GROUPS];
};
void work_group_ids(const struct work *work, uint32_t ranks, struct work_group_ids *ids);

#endif
