/* SPDX-License-Identifier: Apache-2.0 */
/* What chakra_jsonizer made of a trace comes back as that trace, byte for byte, for every such pair of the archive; so
 * does our own export of it. The feeder's example workload becomes a trace without a fault. */
#include <stdlib.h>

#include "convert/export.h"
#include "convert/json_workload.h"
#include "io/file.h"
#include "tests/check.h"
#include "tests/convert/archive.h"
#include "trace/check.h"

static enum orr_status convert_json(const char *input, const char *output, struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    struct convert_summary summary;
    notes_init(&notes, &mem, false);
    struct convert_request request = {.input = input,
                                      .output = output,
                                      .has_unknown_size = true,
                                      .unknown_size = 1024,
                                      .passes = 1,
                                      .mem = &mem,
                                      .notes = &notes};
    enum orr_status status = json_convert(&request, &summary, err);
    notes_free(&notes);
    return status;
}

static bool comes_back(const struct archive *archive, const char *json, const char *want_name)
{
    char output[ARCHIVE_PATH];
    size_t got_size = 0;
    size_t want_size = 0;
    struct orr_error err = {0};
    archive_output(archive, "back.et", output);
    enum orr_status status = convert_json(json, output, &err);
    CHECK(status == ORR_OK, "%s: %s", json, err.text);
    char *got = archive_read(archive, output, &got_size);
    char *want = archive_read(archive, want_name, &want_size);
    bool same = got != NULL && want != NULL && archive_same(want_name, got, got_size, want, want_size);
    free(got);
    free(want);
    return same;
}

/* The export of a file of the archive, which may be packed: written out plain first. */
static void write_export(const struct archive *archive, const char *name, char path[ARCHIVE_PATH])
{
    struct mem mem = {0};
    struct orr_error err = {0};
    char plain[ARCHIVE_PATH];
    char *text = NULL;
    size_t size = 0;
    char *bytes = archive_read(archive, name, &size);
    archive_output(archive, "plain.et", plain);
    CHECK_OK(file_write(plain, bytes, size, &err), &err);
    free(bytes);
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(export_trace(plain, EXPORT_JSON, stream, &mem, &err), &err);
    fclose(stream);
    archive_output(archive, "export.json", path);
    CHECK_OK(file_write(path, text, size, &err), &err);
    free(text);
}

static void try_folder(const struct archive *archive, const char *folder, size_t *tried, size_t *same)
{
    static const char end[] = ".et.json";
    char **names = archive_names(archive, folder, "");
    for (size_t i = 0; names[i] != NULL; i++) {
        char json[ARCHIVE_PATH];
        char name[ARCHIVE_PATH];
        const char *found = strstr(names[i], end);
        if (found == NULL)
            continue;
        snprintf(name, sizeof name, "%s/%.*s", folder, (int)(found - names[i]) + (int)sizeof end - 1, names[i]);
        CHECK(archive_path(archive, name, json), "%s is not there", name);
        snprintf(name, sizeof name, "%s/%.*s.et", folder, (int)(found - names[i]), names[i]);
        bool good = comes_back(archive, json, name);
        write_export(archive, name, json);
        good = comes_back(archive, json, name) && good;
        *tried += 1;
        *same += good;
    }
    archive_names_free(names);
}

static void what_the_jsonizer_wrote_comes_back(void **state)
{
    const struct archive *archive = *state;
    static const char *const parents[] = {"link", "edge", "text/out"};
    size_t tried = 0;
    size_t same = 0;
    try_folder(archive, "generator/n4", &tried, &same);
    for (size_t i = 0; i < COUNT_OF(parents); i++) {
        char **names = archive_names(archive, parents[i], "");
        for (size_t k = 0; names[k] != NULL; k++) {
            char folder[ARCHIVE_PATH];
            snprintf(folder, sizeof folder, "%s/%s", parents[i], names[k]);
            try_folder(archive, folder, &tried, &same);
            char **inner = archive_names(archive, folder, "n");
            for (size_t j = 0; strcmp(parents[i], "text/out") == 0 && inner[j] != NULL; j++) {
                char deep[2 * ARCHIVE_PATH];
                snprintf(deep, sizeof deep, "%s/%s", folder, inner[j]);
                try_folder(archive, deep, &tried, &same);
            }
            archive_names_free(inner);
        }
        archive_names_free(names);
    }
    print_message("%zu traces, %zu equal\n", tried, same);
    CHECK(tried > 100, "only %zu were found", tried);
    CHECK_U64(same, tried, "equal");
}

static void the_feeders_example_becomes_a_sound_trace(void **state)
{
    const struct archive *archive = *state;
    char input[ARCHIVE_PATH];
    char output[ARCHIVE_PATH];
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_document *document = NULL;
    struct trace_findings findings;
    CHECK(archive_path(archive, "feeder/small_chakra.0.json", input), "not there");
    archive_output(archive, "feeder.et", output);
    CHECK_OK(convert_json(input, output, &err), &err);
    CHECK_OK(trace_document_read(output, &mem, &document, &err), &err);
    CHECK_U64(document->node_count, 7, "nodes");
    CHECK_OK(trace_check(document, &mem, &findings, &err), &err);
    CHECK_U64(findings.count, 0, "findings");
    trace_findings_free(&findings);
    trace_document_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_jsonizer_wrote_comes_back),
        cmocka_unit_test(the_feeders_example_becomes_a_sound_trace),
    };
    return cmocka_run_group_tests(tests, archive_open, archive_close);
}
