/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Chakra ET file record by record, as bytes, with the few facts of a node that the tools on traces decide by: what
 * they do not change they copy, so they never need a tree of messages, and a file of any size passes through a window.
 * Plain, gzip and zstd files read alike. trace/record_edit.h writes a record back with changes; trace/edit.h holds the
 * dependencies of a whole file.
 *
 * A record, and every text found in it, is valid until the reader's next call.
 */
#ifndef ORR_TRACE_RECORD_H
#define ORR_TRACE_RECORD_H

#include "base/mem.h"
#include "io/stream.h"
#include "io/wire.h"
#include "trace/attr.h"
#include "trace/graph.h"

/* Field numbers of a node's message (trace/chakra.proto). */
enum record_field {
    RECORD_ID = 1,
    RECORD_NAME = 2,
    RECORD_TYPE = 3,
    RECORD_CTRL = 4,
    RECORD_DATA = 5,
    RECORD_START = 6,
    RECORD_DURATION = 7,
    RECORD_INPUTS = 8,
    RECORD_OUTPUTS = 9,
    RECORD_ATTR = 10,
};

struct record {
    const uint8_t *bytes; /* the message, without the length before it */
    size_t size;
    uint64_t offset; /* of its first byte in the unpacked file */
};

struct record_reader {
    struct mem *mem;
    struct io_stream *stream; /* NULL: the bytes are the caller's and all at hand */
    char *path;
    const uint8_t *bytes; /* at hand */
    uint8_t *buffer;      /* of which they are a part; NULL without a stream */
    size_t size, capacity;
    size_t used;         /* of the bytes at hand */
    uint64_t offset;     /* of bytes[0] in the unpacked file */
    bool at_end;         /* nothing follows them */
    const char *foreign; /* what the file is instead of a trace, if it cannot be read; or NULL */
};

/* Opens a file and leaves the reader before the metadata. ORR_EIO, ORR_EINVAL (empty) or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status record_reader_open(struct record_reader *reader, const char *path, struct mem *mem,
                                                  struct orr_error *err);
/* The same for bytes that stay where they are while the reader is open. */
ORR_MUST_CHECK enum orr_status record_reader_open_bytes(struct record_reader *reader, const uint8_t *bytes, size_t size,
                                                        const char *name, struct mem *mem, struct orr_error *err);
void record_reader_close(struct record_reader *reader); /* closed already is fine */

/* The next record, the first being the metadata; `*more` is false at the end. ORR_EINVAL when it is cut short. */
ORR_MUST_CHECK enum orr_status record_reader_next(struct record_reader *reader, struct record *record, bool *more,
                                                  struct orr_error *err);
ORR_MUST_CHECK enum orr_status record_reader_rewind(struct record_reader *reader, struct orr_error *err);

/* ---- attributes -------------------------------------------------------------------------------------------------- */

struct record_text {
    const char *text; /* not terminated */
    size_t length;
};

static inline bool record_text_is(struct record_text text, const char *terminated)
{
    size_t length = strlen(terminated);
    return text.length == length && memcmp(text.text, terminated, length) == 0;
}

struct record_attribute {
    struct record_text name, doc;
    uint32_t kind;           /* enum trace_value */
    struct wire_field value; /* only with a kind */
};

/* False when the message is not well-formed. */
bool record_attribute_read(const uint8_t *bytes, size_t size, struct record_attribute *attr);
/* The last span of this number in a message's bytes; of no length where there is none. */
struct record_text record_span(const uint8_t *bytes, size_t size, uint32_t number);

/* The value of an attribute of any integer kind; a negative one as its two's complement. */
bool record_attribute_integer(const struct record_attribute *attr, uint64_t *bits, bool *negative);

/* Whether the value is of the kind that the simulator wants of this attribute. */
bool record_attribute_fits(const struct record_attribute *attr, enum trace_attr which);

/* ---- facts of a node --------------------------------------------------------------------------------------------- */

struct record_ids {
    uint64_t *ids;
    uint32_t count, capacity;
};

/* Attributes that grow with a node's work and so add up when nodes are merged and are multiplied when it is scaled.
 * tensor_size of memory nodes is theirs alone. */
#define RECORD_AMOUNTS(X)                                                                                              \
    X(NUM_OPS, "num_ops")                                                                                              \
    X(TENSOR_SIZE, "tensor_size")                                                                                      \
    X(COMPUTE_CYCLES, "compute_cycles")                                                                                \
    X(EXEC_CYCLES, "exec_cycles")                                                                                      \
    X(CYCLES, "cycles")                                                                                                \
    X(RUNTIME, "runtime")

enum record_amount {
#define RECORD_X(id, name) RECORD_AMOUNT_##id,
    RECORD_AMOUNTS(RECORD_X)
#undef RECORD_X
        RECORD_AMOUNT_COUNT
};

const char *record_amount_name(enum record_amount amount);

struct record_facts {
    uint64_t id;
    uint64_t start_us, duration_us;
    struct record_text name;
    int32_t type;                         /* as written: may be no enum trace_node_type */
    uint32_t has;                         /* bit enum trace_attr: the first of that name is there and fits */
    uint32_t wrong;                       /* bit enum trace_attr: the first of that name does not fit */
    uint64_t value[TRACE_ATTR_COUNT];     /* where `has` and the shape is a number */
    struct record_text group;             /* pg_name as text, decimal where it is a number; empty = none */
    char group_number[24];                /* where `group` points for a number */
    uint64_t amount[RECORD_AMOUNT_COUNT]; /* where has_amount */
    uint32_t has_amount;                  /* bit enum record_amount: an integer that is not negative */
    int64_t step;                         /* attribute "step" */
    bool has_step;
    uint64_t parent; /* attribute "parent": id of the op around, or of the one that launched it */
    bool has_parent;
    bool has_group_attributes;    /* pg_name, pg_desc, ranks, … or a name with process_group: it describes
                                     a process group */
    uint64_t lane;                /* a number for the attributes "stream" and "tid" together */
    struct record_ids data, ctrl; /* ids as written */
};

void record_facts_init(struct record_facts *facts);
void record_facts_free(struct record_facts *facts, struct mem *mem);

/* Reads a node's record, checking that it is well-formed and its texts UTF-8. `facts` keeps its memory from call to
 * call. ORR_EINVAL with the reader's path and the byte, or ORR_ENOMEM. */
ORR_MUST_CHECK enum orr_status record_scan(const struct record_reader *reader, const struct record *record,
                                           struct record_facts *facts, struct orr_error *err);

/* "FILE: byte N: …", for what is wrong at `at` in a record. */
ORR_MUST_CHECK enum orr_status record_error(const struct record_reader *reader, const struct record *record,
                                            const uint8_t *at, const char *what, struct orr_error *err);

static inline bool record_is_cpu(const struct record_facts *facts)
{
    return (facts->has & 1u << TRACE_ATTR_IS_CPU_OP) != 0 && facts->value[TRACE_ATTR_IS_CPU_OP] != 0;
}

static inline bool record_is_comm(int32_t type)
{
    return type == TRACE_SEND || type == TRACE_RECV || type == TRACE_COLL;
}

#endif
