/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden cases as text: everything one run of ASTRA-sim was given, and what it answered, in a few lines a person can
 * read and change. A file holds one family of cases; this reader turns a case back into the files ASTRA-sim takes and
 * hands out the expected answers. It owns the text it loaded and knows nothing of the simulator.
 *
 * The format. A line is a keyword and its arguments; `#` starts a comment line; a backslash at the end of a line
 * continues it; indentation is only for the eye. The lines after `default` hold for every case of the file, those
 * after `case NAME` for that case:
 *
 *   network KIND SIZE GBPS NS | …      one entry a dimension; numbers are written to network.yml as they stand
 *   system KEY=VALUE …                 system.json; the case's value wins, `KEY=-` takes a default away,
 *                                      `algorithm=A,B` sets the four <collective>-implementation lists at once
 *   memory KEY=VALUE …                 memory.json; NO_MEMORY_EXPANSION without this line
 *   group ID RANKS                     one communicator group of comm_group.json, order kept
 *   option --NAME=VALUE                a further command-line option
 *   pernode TEXT                       a line of pernode.yml
 *   trace RANKS                        workload/w.RANK.et of these ranks has the nodes on the lines that follow
 *   custom RANKS                       the same for custom/custom_allreduce.RANK.et
 *   unreliable WHY                     ASTRA-sim's answer is not to be relied on
 *   both|unaware|aware OUTCOME         what ASTRA-sim did on this backend (packet OUTCOME: see packet_case.h)
 *
 * RANKS is a list of `7`, `0-3` and `0-12:4` (every fourth).
 *
 * A node line is KIND ID KEY=VALUE…, KIND one of coll comp send recv load store metadata invalid; the node is called
 * KIND and ID together. Keys: `data` and `ctrl` (lists of parent ids), `us` (duration_micros), and the attributes of
 * CASE_ATTRIBUTES below, written in the order of the line. `cpu` (is_cpu_op) is false where it is not given and absent
 * where it is `-`. A number is one for all ranks of the block, or `r` with + - * / % applied left to right
 * (parentheses only show that), or a list with a value a rank: `{5,6*3}` is 5, 6, 6, 6. `group=own` is the group that
 * lists the rank.
 *
 * OUTCOME is `OK`, `INCOMPLETE REASON` (the run went dry with ranks unfinished), `EXIT CODE REASON` or
 * `SIGNAL NUMBER REASON`; then `#` and the XXH64 of the complete standard output, where one was kept; then for every
 * rank `FINISH`, or `FINISH/EXPOSED` where the exposed cycles differ, or `-` for a rank that did not finish, with `*N`
 * for N ranks in a row.
 */
#ifndef ORR_TESTS_GOLDEN_CASE_FILE_H
#define ORR_TESTS_GOLDEN_CASE_FILE_H

#include "orrery.h"
#include "tests/golden/et_bytes.h"

/* key in the text, attribute, type on the wire: always what ASTRA-sim's own tools write for it. */
#define CASE_ATTRIBUTES(X)                                                                                             \
    X("cpu", "is_cpu_op", ET_BOOL)                                                                                     \
    X("type", "comm_type", ET_INT64)                                                                                   \
    X("size", "comm_size", ET_INT64)                                                                                   \
    X("pri", "comm_priority", ET_INT32)                                                                                \
    X("tag", "comm_tag", ET_INT32)                                                                                     \
    X("src", "comm_src", ET_INT32)                                                                                     \
    X("dst", "comm_dst", ET_INT32)                                                                                     \
    X("dims", "involved_dim", ET_BOOL_LIST)                                                                            \
    X("tensor", "tensor_size", ET_UINT64)                                                                              \
    X("ops", "num_ops", ET_INT64)                                                                                      \
    X("group", "pg_name", ET_STRING)

/* A piece of a line; not terminated. */
struct case_slice {
    const char *at;
    size_t length;
};

struct case_line {
    unsigned number;           /* in the file, from 1 */
    struct case_slice keyword; /* or the node's kind */
    struct case_slice rest;
};

struct case_file {
    const char *path; /* borrowed, for messages */
    char *text;
    struct case_line *lines;
    size_t line_count;
    size_t default_end; /* lines [0, default_end) are the defaults, `default` first */
    struct golden_case *cases;
    size_t case_count;
};

struct golden_case {
    char name[96];
    size_t first, end; /* its lines, without `case NAME` */
    uint32_t ranks;    /* product of the network's sizes */
    bool unreliable;
};

enum case_kind { CASE_OK, CASE_INCOMPLETE, CASE_EXIT, CASE_SIGNAL };

struct case_rank {
    bool finished;
    uint64_t finish;
    uint64_t exposed;
};

struct case_outcome {
    enum case_kind kind;
    int code;        /* of EXIT and SIGNAL */
    char reason[48]; /* empty for OK */
    bool has_hash;
    uint64_t hash;
    struct case_rank *ranks; /* as many as the case has, or NULL where no rank is listed */
};

/* `path` is kept. */
ORR_MUST_CHECK enum orr_status case_file_open(const char *path, struct case_file *file, struct orr_error *err);
/* The same from a text; `name` is used in messages and kept, `text` is copied. */
ORR_MUST_CHECK enum orr_status case_file_parse(const char *name, const char *text, struct case_file *file,
                                               struct orr_error *err);
void case_file_close(struct case_file *file);

/* Writes the case's input files into the existing folder `folder`. */
ORR_MUST_CHECK enum orr_status case_write(const struct case_file *file, const struct golden_case *one,
                                          const char *folder, struct orr_error *err);
/* The case's outcome on a backend; give it back with case_outcome_free. */
ORR_MUST_CHECK enum orr_status case_outcome_read(const struct case_file *file, const struct golden_case *one,
                                                 enum orr_backend backend, struct case_outcome *outcome,
                                                 struct orr_error *err);
void case_outcome_free(struct case_outcome *outcome);

/* The value of option --NAME in the case's lines, empty when there is none. */
struct case_slice case_option(const struct case_file *file, const struct golden_case *one, const char *name);
bool case_has(const struct case_file *file, const struct golden_case *one, const char *keyword);

#endif
