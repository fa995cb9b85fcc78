/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Chakra ET file composed: none may crash, and what comes of a sound trace is sound and has every byte
 * of the gradients. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/reading.h"
#include "trace/check.h"
#include "trace/compose.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Whether the check finds nothing; a text with a NUL byte is no document and says nothing. */
static bool is_sound(const uint8_t *bytes, size_t size)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    struct trace_findings findings;
    bool sound = false;
    if (trace_document_parse(bytes, size, "fuzz", &mem, &document, &err) != ORR_OK) {
        return false;
    }
    if (trace_check(document, &mem, &findings, &err) == ORR_OK) {
        sound = findings.count == 0;
        trace_findings_free(&findings);
    }
    trace_document_free(document);
    return sound;
}

static void compose(const uint8_t *bytes, size_t size, const struct compose_options *options)
{
    struct fuzz_reading reading;
    struct record_reader reader;
    struct compose_counts counts = {0};
    char *made = NULL;
    size_t made_size = 0;
    FILE *stream = open_memstream(&made, &made_size);
    fuzz_reading_begin(&reading);
    enum orr_status status = record_reader_open_bytes(&reader, bytes, size, "fuzz", &reading.mem, &reading.err);
    fuzz_check_status(&reading, status);
    if (status == ORR_OK) {
        status = compose_trace(&reader, options, stream, &reading.notes, &counts, &reading.mem, &reading.err);
        fuzz_check_status(&reading, status);
        record_reader_close(&reader);
    }
    (void)fclose(stream);
    if (status == ORR_OK && is_sound(bytes, size) && !is_sound((const uint8_t *)made, made_size)) {
        abort();
    }
    free(made);
    fuzz_reading_end(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct compose_options options = {.shard = {2, 3},
                                      .tp_group = 1,
                                      .dp_group = 2,
                                      .same_ranks = true,
                                      .ranks = 4,
                                      .peer_shift = 8,
                                      .buckets = {.elements = 100, .element_bytes = 4, .count = 3},
                                      .overlap = true};
    compose(bytes, size, &options);
    options.overlap = false;
    options.shard = (struct scale_factor){1, 1};
    compose(bytes, size, &options);
    return 0;
}
