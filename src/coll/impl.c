/* SPDX-License-Identifier: Apache-2.0 */
/* Names are matched whole; only the window of "direct<W>" and "oneDirect<W>" is parsed, because it is the one part of
 * a name that has no finite list. */
#include "coll/impl.h"

#include <stddef.h>
#include <string.h>

#include "base/scan.h"

const char *coll_type_name(int32_t type)
{
    switch (type) {
#define COLL_X(name, number, text)                                                                                     \
    case number:                                                                                                       \
        return text;
        COLL_TYPES(COLL_X)
#undef COLL_X
    default:
        return NULL;
    }
}

static const struct {
    const char *name;
    struct coll_impl impl;
    bool window; /* a number may follow the name */
} impl_rows[] = {
    {"ring", {COLL_RING, false, 0, COLL_NCCL_AUTO}, false},
    {"oneRing", {COLL_RING, true, 0, COLL_NCCL_AUTO}, false},
    {"direct", {COLL_DIRECT, false, 0, COLL_NCCL_AUTO}, true},
    {"oneDirect", {COLL_DIRECT, true, 0, COLL_NCCL_AUTO}, true},
    {"halvingDoubling", {COLL_HALVING_DOUBLING, false, 0, COLL_NCCL_AUTO}, false},
    {"oneHalvingDoubling", {COLL_HALVING_DOUBLING, true, 0, COLL_NCCL_AUTO}, false},
    {"doubleBinaryTree", {COLL_DOUBLE_BINARY_TREE, false, 0, COLL_NCCL_AUTO}, false},
    {"nccl", {COLL_NCCL, true, 0, COLL_NCCL_AUTO}, false},
    {"ncclRing", {COLL_NCCL, true, 0, COLL_NCCL_RING}, false},
    {"ncclTree", {COLL_NCCL, true, 0, COLL_NCCL_TREE}, false},
    {"ncclNvls", {COLL_NCCL, true, 0, COLL_NCCL_NVLS}, false},
    {"ncclCollnet", {COLL_NCCL, true, 0, COLL_NCCL_COLLNET}, false},
};

const char *const coll_impl_names[] = {
    "ring",
    "oneRing",
    "direct",
    "direct<W>",
    "oneDirect",
    "oneDirect<W>",
    "halvingDoubling",
    "oneHalvingDoubling",
    "doubleBinaryTree",
    "nccl",
    "ncclRing",
    "ncclTree",
    "ncclNvls",
    "ncclCollnet",
    NULL,
};

/* A window of 0 would send nothing for ever; 31 bits is what the original's integer holds. */
static bool parse_window(const char *text, uint32_t *window)
{
    uint64_t value = 0;
    if (!scan_whole(text, strlen(text), INT32_MAX, &value) || value == 0) {
        return false;
    }
    *window = (uint32_t)value;
    return true;
}

bool coll_impl_parse(const char *text, struct coll_impl *impl)
{
    for (size_t i = 0; i < sizeof impl_rows / sizeof impl_rows[0]; i++) {
        size_t length = strlen(impl_rows[i].name);
        if (strncmp(text, impl_rows[i].name, length) != 0) {
            continue;
        }
        struct coll_impl found = impl_rows[i].impl;
        if (text[length] == '\0' || (impl_rows[i].window && parse_window(text + length, &found.window))) {
            *impl = found;
            return true;
        }
    }
    return false;
}

double coll_bus_factor(int32_t type, uint32_t ranks)
{
    double n = (double)ranks;
    switch (type) {
    case COLL_ALL_REDUCE:
        return 2.0 * (n - 1.0) / n;
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_ALL_TO_ALL:
    case COLL_GATHER:
    case COLL_SCATTER:
        return (n - 1.0) / n;
    case COLL_BROADCAST:
    case COLL_REDUCE:
        return 1.0;
    default:
        return 0;
    }
}
