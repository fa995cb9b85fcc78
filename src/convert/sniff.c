/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that are JSON are told apart by keys near the front: recorders write what describes the file before the
 * events. A megabyte is looked at, since a device trace may list hundreds of process groups first. */
#include "convert/sniff.h"

#include <ctype.h>
#include <string.h>

#include "convert/text/simai.h"
#include "io/kind.h"
#include "io/stream.h"

enum { HEAD = 1 << 20, WORD = 48 };

static const char *const others[] = {
#define KIND_X(id, words) "is " words ", and no trace",
    FILE_KINDS(KIND_X)
#undef KIND_X
};

static bool convert_sniff_has(const char *bytes, size_t size, const char *word)
{
    return memmem(bytes, size, word, strlen(word)) != NULL;
}

static enum orr_format sniff_events(const char *bytes, size_t size, const char **hint)
{
    static const char *const tensorflow[] = {"device:GPU:", "device:TPU:", "host:CPU", "host:CUPTI", "host:ROCTRACER"};
    static const char *const kineto[] = {"\"deviceProperties\"", "\"cpu_op\"", "\"External id\"",
                                         "\"distributedInfo\""};
    for (size_t i = 0; i < sizeof kineto / sizeof kineto[0]; i++) {
        if (convert_sniff_has(bytes, size, kineto[i])) {
            *hint = "is a PyTorch device trace, which says little without the host's: orrery trace import puts "
                    "both together";
            return ORR_FORMAT_AUTO;
        }
    }
    for (size_t i = 0; i < sizeof tensorflow / sizeof tensorflow[0]; i++) {
        if (convert_sniff_has(bytes, size, tensorflow[i])) {
            return ORR_FORMAT_TENSORFLOW;
        }
    }
    *hint = "has \"traceEvents\" but none of TensorFlow's devices in its first megabyte; parameter 'from' tensorflow "
            "reads it "
            "nevertheless";
    return ORR_FORMAT_AUTO;
}

static enum orr_format sniff_json(const char *bytes, size_t size, const char **hint)
{
    if (bytes[0] == '[') {
        return convert_sniff_has(bytes, size, "\"ph\"") ? ORR_FORMAT_HOROVOD : ORR_FORMAT_AUTO;
    }
    if (convert_sniff_has(bytes, size, "\"workload_graph\"") || convert_sniff_has(bytes, size, "\"orrery-trace\"")) {
        return ORR_FORMAT_JSON;
    }
    if (convert_sniff_has(bytes, size, "\"traceEvents\"")) {
        return sniff_events(bytes, size, hint);
    }
    /* A linked trace lists its threads and process groups first, which may be more than is looked at here. */
    if (convert_sniff_has(bytes, size, "\"nodes\"") || convert_sniff_has(bytes, size, "\"start_ts\":")) {
        return ORR_FORMAT_PYTORCH;
    }
    /* Chakra's jsonizer: metadata, then nodes, as objects without anything between them. */
    return convert_sniff_has(bytes, size, "}{") || convert_sniff_has(bytes, size, "\"version\"") ? ORR_FORMAT_JSON
                                                                                                 : ORR_FORMAT_AUTO;
}

static bool is_strategy(const char *word)
{
    static const char *const names[] = {
#define SNIFF_X(name, forward, weight) #name,
        TEXT_STRATEGIES(SNIFF_X)
#undef SNIFF_X
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Past blanks, and GOAL's comments. */
static size_t convert_sniff_skip_blanks(const char *bytes, size_t size, size_t at)
{
    for (;;) {
        while (at < size && isspace((unsigned char)bytes[at])) {
            at++;
        }
        const char *end = NULL;
        if (size - at >= 2 && memcmp(bytes + at, "//", 2) == 0) {
            end = memchr(bytes + at, '\n', size - at);
        } else if (size - at >= 2 && memcmp(bytes + at, "/*", 2) == 0) {
            end = memmem(bytes + at + 2, size - at - 2, "*/", 2);
            end = end == NULL ? NULL : end + 1;
        } else {
            return at;
        }
        if (end == NULL) {
            return size;
        }
        at = (size_t)(end - bytes) + 1;
    }
}

/* A header line of at least two columns. */
static bool looks_like_table(const char *bytes, size_t size)
{
    const char *end = memchr(bytes, '\n', size);
    size_t length = end == NULL ? size : (size_t)(end - bytes);
    return memchr(bytes, ',', length) != NULL || memchr(bytes, ';', length) != NULL ||
           memchr(bytes, '\t', length) != NULL;
}

static bool convert_sniff_is_text(const char *bytes, size_t size)
{
    return memchr(bytes, '\0', size) == NULL;
}

enum orr_format convert_sniff_bytes(const char *bytes, size_t size, const char **hint)
{
    char word[WORD] = "";
    size_t length = 0;
    *hint = NULL;
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        bytes += 3;
        size -= 3;
    }
    size_t at = convert_sniff_skip_blanks(bytes, size, 0);
    if (at == size || !convert_sniff_is_text(bytes, size)) {
        *hint = at == size ? "is empty" : "is not text; an ET file needs no conversion";
        return ORR_FORMAT_AUTO;
    }
    enum file_kind kind = file_kind_of(bytes, size);
    if (kind != FILE_KIND_UNKNOWN && kind != FILE_KIND_WORKLOAD && kind != FILE_KIND_RECORDING) {
        *hint = others[kind];
        return ORR_FORMAT_AUTO;
    }
    if (bytes[at] == '{' || bytes[at] == '[') {
        return sniff_json(bytes + at, size - at, hint);
    }
    while (at + length < size && length < WORD - 1 && !isspace((unsigned char)bytes[at + length])) {
        word[length] = bytes[at + length];
        length++;
    }
    if (strcmp(word, "num_ranks") == 0) {
        return ORR_FORMAT_GOAL;
    }
    if (is_strategy(word)) {
        return ORR_FORMAT_TEXT;
    }
    return looks_like_table(bytes + at, size - at) ? ORR_FORMAT_CSV : ORR_FORMAT_AUTO;
}

static enum orr_status convert_sniff_read_head(const char *path, struct mem *mem, char *head, size_t *size,
                                               struct orr_error *err)
{
    struct io_stream *stream = NULL;
    size_t got = 1;
    *size = 0;
    enum orr_status status = io_stream_open(path, mem, &stream, err);
    while (status == ORR_OK && got > 0 && *size < HEAD) {
        status = io_stream_read(stream, head + *size, HEAD - *size, &got, err);
        *size += status == ORR_OK ? got : 0;
    }
    io_stream_close(stream);
    return status;
}

enum orr_status convert_sniff(const char *path, struct mem *mem, enum orr_format *format, struct orr_error *err)
{
    size_t size = 0;
    const char *hint = NULL;
    bool is_simai = false;
    enum orr_format found = ORR_FORMAT_AUTO;
    char *head = mem_alloc(mem, HEAD);
    if (head == NULL) {
        return mem_error(mem, "the first bytes of a file", err);
    }
    enum orr_status status = convert_sniff_read_head(path, mem, head, &size, err);
    if (status == ORR_OK) {
        found = convert_sniff_bytes(head, size, &hint);
    }
    mem_free(mem, head, HEAD);
    if (status == ORR_OK && found == ORR_FORMAT_AUTO && hint != NULL) {
        return error_set(err, ORR_EINVAL, "%s: the file %s", path, hint);
    }
    if (status == ORR_OK && found == ORR_FORMAT_AUTO) {
        return error_set(err, ORR_EINVAL,
                         "%s: the format is not recognised; parameter 'from' names it: " ORR_FORMAT_LIST, path);
    }
    if (status == ORR_OK && found == ORR_FORMAT_TEXT) {
        status = simai_detect(path, mem, &is_simai, err);
        found = is_simai ? ORR_FORMAT_SIMAI : found;
    }
    if (status == ORR_OK) {
        *format = found;
    }
    return status;
}
