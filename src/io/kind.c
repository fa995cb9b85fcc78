/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind has keys that no other has; the first one found within the beginning of a file decides. */
#include "io/kind.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "io/file.h"

enum { LOOKED_AT = 4096 };

static const char *const words[] = {
#define KIND_X(id, text) [FILE_KIND_##id] = text,
    FILE_KINDS(KIND_X)
#undef KIND_X
};

struct sign {
    enum file_kind kind;
    const char *key;
};

static const struct sign json_signs[] = {
    {FILE_KIND_SYSTEM, "\"scheduling-policy\""},
    {FILE_KIND_SYSTEM, "\"active-chunks-per-dimension\""},
    {FILE_KIND_SYSTEM, "\"preferred-dataset-splits\""},
    {FILE_KIND_SYSTEM, "\"all-reduce-implementation\""},
    {FILE_KIND_LOGICAL, "\"logical-dims\""},
    {FILE_KIND_MEMORY, "\"memory-type\""},
    {FILE_KIND_RECORDING, "\"traceEvents\""},
    {FILE_KIND_CALIBRATION, "\"orrery-calibration-1\""},
};

/* At the beginning of a line. */
static const struct sign line_signs[] = {
    {FILE_KIND_NETWORK, "npus_count:"},     {FILE_KIND_NETWORK, "topology:"},
    {FILE_KIND_PACKET, "TOPOLOGY_FILE "},   {FILE_KIND_PACKET, "CC_MODE "},
    {FILE_KIND_PACKET, "L2_ACK_INTERVAL "}, {FILE_KIND_PACKET, "PACKET_PAYLOAD_SIZE "},
    {FILE_KIND_PRICES, "currency:"},        {FILE_KIND_PRICES, "gpus-per-server:"},
    {FILE_KIND_WORKLOAD, "HYBRID_"},        {FILE_KIND_WORKLOAD, "DISTRIBUTED_INFERENCE"},
    {FILE_KIND_WORKLOAD, "MICRO\n"},        {FILE_KIND_WORKLOAD, "MODEL\n"},
    {FILE_KIND_WORKLOAD, "DATA\n"},         {FILE_KIND_STORE, "SQLite format 3"},
};

/* The rest of a text, never beyond its end. */
struct rest {
    const char *at;
    size_t size;
};

static bool file_kind_begins(struct rest rest, const char *key)
{
    size_t length = strlen(key);
    return rest.size >= length && memcmp(rest.at, key, length) == 0;
}

static struct rest skip(struct rest rest, size_t count)
{
    return (struct rest){rest.at + count, rest.size - count};
}

static struct rest file_kind_skip_blanks(struct rest rest)
{
    while (rest.size > 0 && isspace((unsigned char)*rest.at)) {
        rest = skip(rest, 1);
    }
    return rest;
}

static struct rest skip_digits(struct rest rest)
{
    while (rest.size > 0 && isdigit((unsigned char)*rest.at)) {
        rest = skip(rest, 1);
    }
    return rest;
}

/* {"0": [ */
static bool is_groups(struct rest rest)
{
    rest = file_kind_skip_blanks(skip(rest, 1));
    struct rest digits = file_kind_begins(rest, "\"") ? skip(rest, 1) : rest;
    struct rest after = skip_digits(digits);
    if (after.size == digits.size || !file_kind_begins(after, "\"")) {
        return false;
    }
    after = file_kind_skip_blanks(skip(after, 1));
    return file_kind_begins(after, ":") && file_kind_begins(file_kind_skip_blanks(skip(after, 1)), "[");
}

/* A first line of at least three whole numbers: nodes, switches, links. */
static bool is_wires(struct rest rest)
{
    unsigned numbers = 0;
    while (rest.size > 0 && *rest.at != '\n' && *rest.at != '\r') {
        struct rest after = skip_digits(rest);
        if (after.size == rest.size) {
            return numbers >= 3 && isalpha((unsigned char)*rest.at); /* the GPU's type, at the end */
        }
        numbers++;
        for (rest = after; rest.size > 0 && (*rest.at == ' ' || *rest.at == '\t'); rest = skip(rest, 1)) {
        }
    }
    return numbers >= 3;
}

/* A delimited protobuf message whose first field is the version, a text: Chakra's global metadata. */
static bool file_kind_is_trace(struct rest rest)
{
    return rest.size > 3 && (unsigned char)rest.at[0] < 0x80 && rest.at[1] == '\n' &&
           (unsigned char)rest.at[2] < (unsigned char)rest.at[0] && memchr(rest.at, '\0', rest.size) != NULL;
}

static enum file_kind kind_of_json(struct rest rest)
{
    if (is_groups(rest)) {
        return FILE_KIND_GROUPS;
    }
    for (; rest.size > 0; rest = skip(rest, 1)) {
        for (size_t i = 0; *rest.at == '"' && i < sizeof json_signs / sizeof json_signs[0]; i++) {
            if (file_kind_begins(rest, json_signs[i].key)) {
                return json_signs[i].kind;
            }
        }
    }
    return FILE_KIND_UNKNOWN;
}

enum file_kind file_kind_of(const char *text, size_t size)
{
    struct rest rest = {text, size < LOOKED_AT ? size : LOOKED_AT};
    if (file_kind_is_trace(rest)) {
        return FILE_KIND_TRACE;
    }
    rest = file_kind_skip_blanks(rest);
    if (file_kind_begins(rest, "{")) {
        return kind_of_json(rest);
    }
    if (is_wires(rest)) {
        return FILE_KIND_WIRES;
    }
    for (bool starts = true; rest.size > 0; starts = *rest.at == '\n', rest = skip(rest, 1)) {
        for (size_t i = 0; starts && i < sizeof line_signs / sizeof line_signs[0]; i++) {
            if (file_kind_begins(rest, line_signs[i].key)) {
                return line_signs[i].kind;
            }
        }
    }
    return FILE_KIND_UNKNOWN;
}

enum file_kind file_kind_read(const char *path)
{
    char text[LOOKED_AT];
    struct orr_error unsaid = {0};
    uint64_t size = 0;
    int fd = -1;
    ssize_t got = file_open_regular(path, &fd, &size, &unsaid) == ORR_OK ? read(fd, text, sizeof text) : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return file_kind_of(text, got > 0 ? (size_t)got : 0);
}

const char *file_kind_name(enum file_kind kind)
{
    return words[kind];
}

enum orr_status file_kind_check(const char *path, const char *text, size_t size, enum file_kind wanted,
                                const char *where, struct orr_error *err)
{
    enum file_kind kind = file_kind_of(text, size);
    if (kind == FILE_KIND_UNKNOWN || kind == wanted) {
        return ORR_OK;
    }
    return where != NULL
               ? error_set(err, ORR_EINVAL, "%.300s: this is %s; %s wants %s", path, words[kind], where, words[wanted])
               : error_set(err, ORR_EINVAL, "%.300s: this is %s; expected %s", path, words[kind], words[wanted]);
}
