/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of network measurements, as points. Five forms, told by what is in the file:
 *
 *   tests      what nccl-tests and rccl-tests print: any number of tables, with their headings or without
 *   bandwidth  rocm-bandwidth-test's matrices of copy peak bandwidth
 *   csv        a table with a column of sizes and one of times; lines that start with # are comments
 *   yaml       the same as a list of rows, or as a map of columns; JSON is YAML too
 *   trace      a device trace (Kineto): its own collectives, with the time they waited for the last rank
 *
 * docs/calibration-network.md has their grammar. Files may be packed (io/stream.h). What a file does not say (ranks,
 * collective) is taken from the options, else worked out from the bus bandwidth it prints, else from its name, with a
 * note that says so; else it is an error. Knows nothing of fits.
 */
#ifndef ORR_CALIB_READ_H
#define ORR_CALIB_READ_H

#include "base/notes.h"
#include "calib/points.h"

#define CALIB_FORMS(X)                                                                                                 \
    X(TESTS, "tests", "output of nccl-tests or rccl-tests")                                                            \
    X(BANDWIDTH, "bandwidth", "output of rocm-bandwidth-test")                                                         \
    X(CSV, "csv", "table with columns of sizes and times")                                                             \
    X(YAML, "yaml", "the same as YAML or JSON")                                                                        \
    X(TRACE, "trace", "device trace of PyTorch: its own collectives")

enum calib_form {
    CALIB_FORM_AUTO,
#define CALIB_X(name, word, text) CALIB_FORM_##name,
    CALIB_FORMS(CALIB_X)
#undef CALIB_X
};

const char *calib_form_word(enum calib_form form); /* "auto" too */
/* ORR_EINVAL names the nearest, or all there are. */
ORR_MUST_CHECK enum orr_status calib_form_parse(const char *word, enum calib_form *form, struct orr_error *err);

enum { CALIB_TYPE_UNKNOWN = -1 };

/* What holds for a whole file. An option wins over what the file says; a note tells when they disagree. */
struct calib_read_options {
    enum calib_form form;
    int32_t type;   /* enum coll_type, or CALIB_TYPE_UNKNOWN */
    uint32_t ranks; /* 0: unknown */
};
#define CALIB_READ_OPTIONS_DEFAULT ((struct calib_read_options){CALIB_FORM_AUTO, CALIB_TYPE_UNKNOWN, 0})

struct calib_read_result {
    enum calib_form form;    /* what it was read as */
    uint32_t points, copies; /* added */
    uint32_t left_out;       /* rows: of size or time 0, with wrong results, cut off */
};

/*
 * Adds what `path` holds to `points`. Fails with ORR_EIO, ORR_ENOMEM or ORR_EINVAL ("file:line: …"); `points` then has
 * what it had before. A file without a single measurement is an error. Notes: rows left out, what was worked out.
 */
ORR_MUST_CHECK enum orr_status calib_read(const char *path, const struct calib_read_options *options, struct mem *mem,
                                          struct notes *notes, struct calib_points *points,
                                          struct calib_read_result *result, struct orr_error *err);

#endif
