/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a Chakra ET file through the tools that edit: none may crash, and what fix writes must be a file that
 * the check finds nothing wrong with and that simplification takes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/notes.h"
#include "trace/check.h"
#include "trace/fix.h"
#include "trace/simplify.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct output {
    char *bytes;
    size_t size;
    FILE *stream;
};

static void must(bool true_of_it, const char *what)
{
    if (!true_of_it) {
        (void)fprintf(stderr, "%s\n", what);
        abort();
    }
}

static bool fix(const uint8_t *bytes, size_t size, enum fix_cpu cpu, struct output *output)
{
    struct mem mem = {.limit = 64 << 20};
    struct notes notes;
    struct record_reader reader;
    struct orr_error err;
    struct fix_counts counts = {0};
    const struct fix_options options = {.cpu = cpu, .has_unknown_size = true, .unknown_size = 64, .renumber = true};
    notes_init(&notes, &mem, false);
    output->stream = open_memstream(&output->bytes, &output->size);
    bool fine = record_reader_open_bytes(&reader, bytes, size, "fuzz", &mem, &err) == ORR_OK;
    if (fine) {
        fine = fix_trace(&reader, &options, output->stream, &notes, &counts, &mem, &err) == ORR_OK;
        record_reader_close(&reader);
    }
    (void)fclose(output->stream);
    notes_free(&notes);
    must(mem.used == 0, "fix leaks");
    return fine;
}

static void simplify(const uint8_t *bytes, size_t size, bool sound)
{
    for (int level = SIMPLIFY_COMM; level <= SIMPLIFY_MERGE; level++) {
        struct mem mem = {.limit = 64 << 20};
        struct notes notes;
        struct record_reader reader;
        struct orr_error err = {0};
        struct simplify_counts counts = {0};
        notes_init(&notes, &mem, false);
        if (record_reader_open_bytes(&reader, bytes, size, "fuzz", &mem, &err) == ORR_OK) {
            enum orr_status status =
                simplify_trace(&reader, (enum simplify_level)level, NULL, &notes, &counts, &mem, &err);
            must(!sound || status == ORR_OK || status == ORR_ERANGE || status == ORR_ENOMEM, err.text);
            record_reader_close(&reader);
        }
        notes_free(&notes);
        must(mem.used == 0, "simplify leaks");
    }
}

/* A text with a NUL byte is the one thing that passes as text here and not in a document. */
static void check(const struct output *output)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    struct trace_findings findings;
    if (trace_document_parse((const uint8_t *)output->bytes, output->size, "fuzz", &mem, &document, &err) != ORR_OK) {
        return;
    }
    if (trace_check(document, &mem, &findings, &err) == ORR_OK) {
        must(findings.count == 0 || document->node_count == 0, findings.count > 0 ? findings.items[0].text : "");
        trace_findings_free(&findings);
    }
    trace_document_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const enum fix_cpu ways[] = {FIX_CPU_KEEP, FIX_CPU_DROP, FIX_CPU_MERGE};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct output output = {0};
        if (fix(bytes, size, ways[i], &output)) {
            check(&output);
            simplify((const uint8_t *)output.bytes, output.size, true);
        }
        free(output.bytes);
    }
    simplify(bytes, size, false);
    return 0;
}
