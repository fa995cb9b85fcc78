/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PyTorch host execution trace (spec chakra §4), or one that was linked already and so carries the keys of §6.9 (an
 * "HDT"): one compact struct a node. The long parts of a node (values, shapes, types of inputs and outputs) are not
 * kept; host_node_json reads a node again from the file. All schemas from 1.0.1 to 1.1.1 are read; `schema` says which.
 *
 * A file that holds several documents one after the other (a recorder that was restarted) is repaired: the document
 * with the most nodes is taken, of equals the one with the largest start_ts, and notes say so.
 */
#ifndef ORR_CONVERT_PYTORCH_HOST_HOST_H
#define ORR_CONVERT_PYTORCH_HOST_HOST_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/notes.h"
#include "io/json_stream.h"

enum host_has {
    HOST_HAS_RF_ID = 1 << 0,
    HOST_HAS_SEQ_ID = 1 << 1,
    HOST_HAS_TID = 1 << 2,
    HOST_HAS_TS = 1 << 3,  /* linked: start_us and the durations are set */
    HOST_HAS_CAT = 1 << 4, /* linked: a device node */
    HOST_HAS_INTER_THREAD = 1 << 5,
    HOST_HAS_STREAM = 1 << 6, /* an integer */
    HOST_STREAM_IS_TEXT = 1 << 7,
    HOST_HAS_PARENT = 1 << 8,
    HOST_HAS_FW_PARENT = 1 << 9,
    HOST_HAS_SCOPE = 1 << 10,
    HOST_HAS_FW_TID = 1 << 11,
    HOST_HAS_OP_SCHEMA = 1 << 12,
    HOST_STREAM_IS_NULL = 1 << 13, /* the key is there and null */
};

#define HOST_NONE UINT32_MAX

struct host_node {
    uint64_t id;
    uint64_t parent; /* ctrl_deps */
    int64_t rf_id;
    int64_t seq_id;
    int64_t tid;
    uint64_t offset; /* of its text in the unpacked document */
    uint32_t length;
    uint32_t name;   /* in names */
    uint32_t comm;   /* in comms, or HOST_NONE */
    uint32_t linked; /* in links, or HOST_NONE: the keys of a linked trace */
    uint16_t has;    /* enum host_has */
};

/* What record_param_comms and its like say (schema 1.1.0 and later), and the tensors of any node whose name speaks of
 * communication (nccl, rccl, gloo, c10d, record_param_comms, all_reduce …). UINT64_MAX and 0 = not said. */
struct host_comm {
    uint32_t collective; /* attr collective_name */
    uint32_t dtype;
    uint64_t in_elements, out_elements;
    uint32_t in_split, out_split; /* as written */
    uint32_t group_name;          /* attr pg_name, or the first text of record_param_comms' pair (schema 1.0.3) */
    uint32_t group_text;          /* pg_desc */
    uint64_t group_size;
    uint64_t rank_start, rank_stride; /* global_rank_start, global_rank_stride */
    uint64_t tensor_in_bytes;         /* sum over the tensors of the inputs, lists included */
    uint64_t tensor_out_bytes;
    int64_t root_or_peer; /* record_param_comms' rank argument, where the values hold one; else -1 */
};

/* The keys a linker appended. Times as written (µs). */
struct host_link {
    double ts_us, inclusive_us, exclusive_us;
    uint64_t inter_thread_dep;
    int64_t stream;
    uint32_t cat, pg_name; /* in names */
    uint32_t first_sync;   /* in sync_ids */
    uint32_t sync_count;
    uint32_t extra; /* of our own linker's keys (link/linked.h); HOST_NONE = none */
};

/* A top-level member of the document as it stands there; json_stream_reread gives its value again. "nodes" has length
 * 0: its place is known, its elements are the nodes. */
struct host_member {
    const char *key;
    uint64_t offset, length;
};

struct host_trace {
    struct host_node *nodes; /* in file order */
    uint32_t node_count, node_capacity;
    struct host_comm *comms;
    uint32_t comm_count, comm_capacity;
    struct host_link *links;
    uint32_t link_count, link_capacity;
    uint64_t *sync_ids;
    uint32_t sync_id_count, sync_id_capacity;
    struct host_member *members; /* in file order; a key written twice is here twice */
    uint32_t member_count, member_capacity;
    struct intern names;
    const char *schema, *time; /* as written; "" = not there */
    uint64_t pid, start_ts, finish_ts;
    bool has_pid, has_start_ts, has_finish_ts;
    const char *process_groups; /* the JSON text that "## process_group:init ##" carries, or NULL */
    uint64_t byte_count;
    struct json_stream *stream; /* for host_node_json */
    struct mem *mem;
    struct arena arena;
};

ORR_MUST_CHECK enum orr_status host_read(const char *path, struct mem *mem, struct notes *notes,
                                         struct host_trace **trace, struct orr_error *err);
void host_free(struct host_trace *trace); /* NULL is fine */

/* The node's JSON again, whole; valid until the next call. */
ORR_MUST_CHECK enum orr_status host_node_json(struct host_trace *trace, uint32_t node, const struct json_item **item,
                                              struct orr_error *err);

/* Whether a name speaks of communication: such nodes have an entry in comms. */
bool host_name_is_comm(const char *name, size_t length);

#endif
