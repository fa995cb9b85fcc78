/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the converters share: how one is asked, and what it reports. The format `x` of ORR_FORMATS has a `struct
 * converter x_converter`, defined where the format is read; api/ picks one by the format's name. A converter reads its
 * input whole or streaming, writes one ET file (or PREFIX.R.et for each rank) through trace/et_write.h, complete or not
 * at all, and says in `notes` what it had to infer, repair or drop.
 */
#ifndef ORR_CONVERT_CONVERT_H
#define ORR_CONVERT_CONVERT_H

#include "base/mem.h"
#include "base/notes.h"
#include "orrery/trace.h"
#include "trace/provenance.h"

struct convert_request {
    const char *input;
    const char *output;    /* a file; for formats that make several ranks, the prefix of PREFIX.R.et */
    const char *map;       /* csv: "id=COLUMN,name=COLUMN,…"; else NULL */
    uint64_t unknown_size; /* bytes for a communication whose size is not known; only with has_unknown_size */
    uint32_t ranks;        /* how many to write; 0 = not given */
    uint32_t passes;       /* of a workload that is repeated; at least 1 */
    bool has_unknown_size; /* without it an unknown size is an error */
    FILE *replay;          /* compat/chakra/convert.h: where Chakra's --simulate tells the order of issue, or NULL */
    struct mem *mem;
    struct notes *notes;
};

struct convert_summary {
    uint64_t nodes;        /* written, over all files */
    uint64_t compute;      /* of these: COMP */
    uint64_t collectives;  /* COMM_COLL */
    uint64_t sends, recvs; /* COMM_SEND, COMM_RECV */
    uint64_t comm_bytes;   /* comm_size, summed */
    uint32_t files;
};

struct workload;
typedef enum orr_status convert_function(const struct convert_request *request, struct convert_summary *summary,
                                         struct orr_error *err);

/* One of the two functions; and `knows_*`: the option means something to the format. */
struct converter {
    enum orr_status (*read)(const struct convert_request *request, struct workload *workload, struct orr_error *err);
    convert_function *write; /* where it is not read into a workload first (convert/workload.h) */
    bool knows_ranks, knows_passes, knows_map, knows_unknown_size;
};

#define ORR_X(name, word, text) extern const struct converter word##_converter;
ORR_FORMATS(ORR_X)
#undef ORR_X

/*
 * Attributes of ours, beside Chakra's, in every trace we make from a recording.
 *   step       int64: the number of the ProfilerStep (or other step mark) a node belongs to; absent = outside all
 *   type_from  string: how a communication's type was known (convert/provenance.h)
 *   size_from  string: how its size was known
 *   peer_from  string: how the other end of a send or receive was known
 */
#define CONVERT_ATTR_STEP      TRACE_STEP_NAME
#define CONVERT_ATTR_TYPE_FROM TRACE_TYPE_FROM_NAME
#define CONVERT_ATTR_SIZE_FROM TRACE_SIZE_FROM_NAME
#define CONVERT_ATTR_PEER_FROM "peer_from"

#endif
