/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/foreign.h"

#include <stdbool.h>
#include <string.h>

#include "io/etz.h"
#include "io/kind.h"

static const char *const others[] = {
#define KIND_X(id, words) "this is " words "; expected a Chakra ET file",
    FILE_KINDS(KIND_X)
#undef KIND_X
};

static size_t skip_space(const uint8_t *bytes, size_t size, size_t at)
{
    while (at < size && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' || bytes[at] == '\r')) {
        at++;
    }
    return at;
}

/* An object or an array with its first member, or without any. */
static bool is_json(const uint8_t *bytes, size_t size)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    size_t at = size >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
    at = skip_space(bytes, size, at);
    if (at == size || (bytes[at] != '{' && bytes[at] != '[')) {
        return false;
    }
    bool object = bytes[at] == '{';
    at = skip_space(bytes, size, at + 1);
    return at == size || (bytes[at] != '\0' && strchr(object ? "\"}" : "{[]\"-0123456789tfn", bytes[at]) != NULL);
}

const char *trace_foreign(const uint8_t *bytes, size_t size)
{
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        return "the file is compressed with gzip; unpack it first";
    }
    if (size >= ETZ_MAGIC_BYTES && memcmp(bytes, ETZ_MAGIC, ETZ_MAGIC_BYTES) == 0) {
        return "the file is an archive of traces; the one of rank R has the archive's name with .R.et behind it";
    }
    enum file_kind kind = file_kind_of((const char *)bytes, size);
    if (kind != FILE_KIND_UNKNOWN && kind != FILE_KIND_RECORDING && kind != FILE_KIND_TRACE) {
        return others[kind];
    }
    if (is_json(bytes, size)) {
        return "the file is JSON; a Chakra ET file (protobuf) is wanted, which orrery trace import makes of recordings "
               "and orrery trace convert of other JSON";
    }
    return NULL;
}
