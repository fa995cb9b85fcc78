/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities as people write them: "400Gbps", "50 GB/s", "1.5us", "25MiB".
 *
 * Every configuration format in the field has its own bare unit (ASTRA-sim's bandwidth is GB = 2^30 bytes a second,
 * ns-3's is bits, ours on the command line is Gbps and µs), so the caller names the unit that a bare number has.
 * Results are integers in one unit each (bits per second, nanoseconds, bytes), exact or refused: a fraction of a
 * byte is an error, not a rounding.
 *
 * Owns nothing, allocates nothing, knows no file: a reader adds the file and line to the error it gets from here.
 */
#ifndef ORR_BASE_UNITS_H
#define ORR_BASE_UNITS_H

#include <stdint.h>

#include "base/error.h"

/* One row a unit: suffix, kind, factor to the kind's base unit. The parser, its messages and the list of units in
 * docs/config.md are made from these rows. Suffixes are matched whole and case-sensitively: "Mb" and "MB" differ. */
#define ORR_UNITS(X)                                                                                                   \
    X("bps", RATE, 1)                                                                                                  \
    X("Kbps", RATE, 1000)                                                                                              \
    X("Mbps", RATE, 1000000)                                                                                           \
    X("Gbps", RATE, 1000000000)                                                                                        \
    X("Tbps", RATE, 1000000000000)                                                                                     \
    X("GB/s", RATE, 8000000000)                                                                                        \
    X("GiB/s", RATE, 8589934592)                                                                                       \
    X("ns", TIME, 1)                                                                                                   \
    X("us", TIME, 1000)                                                                                                \
    X("ms", TIME, 1000000)                                                                                             \
    X("s", TIME, 1000000000)                                                                                           \
    X("min", TIME, 60000000000)                                                                                        \
    X("h", TIME, 3600000000000)                                                                                        \
    X("d", TIME, 86400000000000)                                                                                       \
    X("B", SIZE, 1)                                                                                                    \
    X("KB", SIZE, 1000)                                                                                                \
    X("KiB", SIZE, 1024)                                                                                               \
    X("MB", SIZE, 1000000)                                                                                             \
    X("MiB", SIZE, 1048576)                                                                                            \
    X("GB", SIZE, 1000000000)                                                                                          \
    X("GiB", SIZE, 1073741824)                                                                                         \
    X("TB", SIZE, 1000000000000)                                                                                       \
    X("TiB", SIZE, 1099511627776)

enum units_kind { UNITS_RATE, UNITS_TIME, UNITS_SIZE };

/*
 * Reads `text` as a quantity of `kind` and stores it in base units (bit/s, ns, bytes). A bare number has the unit
 * `bare_suffix`, which must be one of ORR_UNITS. Spaces between number and suffix are allowed.
 *
 * Fails with ORR_EINVAL (not a number; unknown suffix, naming the nearest; suffix of another kind; a value that is not
 * whole in base units) or ORR_ERANGE (does not fit 64 bits). `*value` is written only on success.
 */
ORR_MUST_CHECK enum orr_status units_parse(const char *text, enum units_kind kind, const char *bare_suffix,
                                           uint64_t *value, struct orr_error *err);

#endif
