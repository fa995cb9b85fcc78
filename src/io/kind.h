/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file of the field is, by its content, so that one in the wrong place is named for what it is instead of read
 * as something else. Only what is beyond doubt is told; everything else is for the reader that was asked. Owns nothing.
 */
#ifndef ORR_IO_KIND_H
#define ORR_IO_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define FILE_KINDS(X)                                                                                                  \
    X(UNKNOWN, "")                                                                                                     \
    X(SYSTEM, "a system file (JSON)")                                                                                  \
    X(NETWORK, "a network file (YAML), which the networks unaware and aware read")                                     \
    X(MEMORY, "a remote memory file (JSON)")                                                                           \
    X(GROUPS, "a file of communicator groups (JSON)")                                                                  \
    X(LOGICAL, "a logical topology (JSON)")                                                                            \
    X(PACKET, "a network configuration (KEY value) of wires, which the networks packet, flow and auto read")           \
    X(WIRES, "a physical topology")                                                                                    \
    X(RECORDING, "a profiler's recording (JSON)")                                                                      \
    X(CALIBRATION, "a calibration (JSON), which parameter 'calibration' takes")                                        \
    X(PRICES, "a price list (YAML) of orrery cost")                                                                    \
    X(WORKLOAD, "a workload text, which orrery simai and orrery trace convert read")                                   \
    X(STORE, "a result store (SQLite)")                                                                                \
    X(TRACE, "a Chakra trace")

enum file_kind {
#define KIND_X(id, words) FILE_KIND_##id,
    FILE_KINDS(KIND_X)
#undef KIND_X
};

enum file_kind file_kind_of(const char *text, size_t size);
enum file_kind file_kind_read(const char *path); /* of a file's beginning; UNKNOWN where it cannot be read */
const char *file_kind_name(enum file_kind kind); /* "a system file (JSON)" */

/* ORR_EINVAL where the text is beyond doubt another kind than the one wanted: what it is, and what `where`
 * ("parameter 'system'"; NULL: not said) wants. */
ORR_MUST_CHECK enum orr_status file_kind_check(const char *path, const char *text, size_t size, enum file_kind wanted,
                                               const char *where, struct orr_error *err);

#endif
