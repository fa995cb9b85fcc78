/* SPDX-License-Identifier: Apache-2.0 */
/* Everything Chakra's Text converter, generator, jsonizer and visualizer answered, byte for byte. Where the original
 * died, ours says why in one line and leaves no file. */
#include <stdlib.h>
#include <unistd.h>

#include "compat/chakra/generator.h"
#include "compat/chakra/jsonizer.h"
#include "compat/chakra/text.h"
#include "compat/chakra/timeline.h"
#include "compat/chakra/visualizer.h"
#include "tests/check.h"
#include "tests/convert/archive.h"

static bool same_file(const struct archive *archive, const char *got_path, const char *want_name)
{
    size_t got_size = 0;
    size_t want_size = 0;
    char *got = archive_read(archive, got_path, &got_size);
    char *want = archive_read(archive, want_name, &want_size);
    bool same = got != NULL && want != NULL && archive_same(want_name, got, got_size, want, want_size);
    if (want == NULL || got == NULL)
        print_error("%s: no file\n", want == NULL ? want_name : got_path);
    free(got);
    free(want);
    return same;
}

/* ---- text ---- */

static enum orr_status convert_text(const char *input, const char *output, uint32_t ranks, uint32_t passes,
                                    struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    struct convert_summary summary;
    notes_init(&notes, &mem, true);
    struct convert_request request = {
        .input = input, .output = output, .ranks = ranks, .passes = passes, .mem = &mem, .notes = &notes};
    enum orr_status status = text_convert_compat(&request, &summary, err);
    notes_free(&notes);
    return status;
}

/* A line of RESULTS.txt: name, ranks, passes, "OK" or "ERR …"; other lines belong to a message above. */
static bool try_text(const struct archive *archive, const char *line, size_t *equal, size_t *refused)
{
    char name[128];
    char answer[8];
    unsigned ranks = 0;
    unsigned passes = 0;
    if (sscanf(line, "%127[^\t\n\"]\t%u\t%u\t%7[A-Z]", name, &ranks, &passes, answer) != 4)
        return true;
    char input[ARCHIVE_PATH];
    char output[ARCHIVE_PATH];
    char path[ARCHIVE_PATH + 64];
    char want[ARCHIVE_PATH];
    struct orr_error err = {0};
    snprintf(want, sizeof want, "text/inputs/%s.txt", name);
    CHECK(archive_path(archive, want, input), "%s", want);
    snprintf(want, sizeof want, "%s.%u.%u", name, ranks, passes);
    archive_output(archive, want, output);
    enum orr_status status = convert_text(input, output, ranks, passes, &err);
    snprintf(path, sizeof path, "%s.0.et", output);
    if (strcmp(answer, "OK") != 0) {
        *refused += 1;
        return status != ORR_OK && err.text[0] != '\0' && access(path, F_OK) != 0;
    }
    bool same = status == ORR_OK;
    for (unsigned rank = 0; rank < ranks && same; rank++) {
        snprintf(path, sizeof path, "%s.%u.et", output, rank);
        snprintf(want, sizeof want, "text/out/%s/n%u_p%u/w.%u.et", name, ranks, passes, rank);
        same = same_file(archive, path, want);
    }
    *equal += same;
    return same;
}

static void every_text_workload_is_converted_alike(void **state)
{
    const struct archive *archive = *state;
    size_t equal = 0;
    size_t refused = 0;
    char *results = archive_read(archive, "text/out/RESULTS.txt", NULL);
    CHECK(results != NULL, "no RESULTS.txt");
    for (char *line = results; line != NULL && *line != '\0';) {
        CHECK(try_text(archive, line, &equal, &refused), "%.60s", line);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    free(results);
    print_message("%zu conversions equal, %zu refused as the original does\n", equal, refused);
    CHECK(equal > 100 && refused > 20, "the list was not read");
}

/* ---- generator ---- */

static void generated(const struct archive *archive, uint32_t ranks)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    char folder[ARCHIVE_PATH];
    char source[32];
    snprintf(source, sizeof source, "generator/n%u", ranks);
    archive_output(archive, "generated", folder);
    struct generator generator = {folder, ranks, 5, 1024, 65536};
    CHECK_OK(generator_write(&generator, &mem, &err), &err);
    char **names = archive_names(archive, source, "");
    size_t compared = 0;
    for (char **name = names; *name != NULL; name++) {
        char got[ARCHIVE_PATH + 300];
        char want[ARCHIVE_PATH];
        size_t length = strlen(*name);
        if (length < 3 || strcmp(*name + length - 3, ".et") != 0)
            continue;
        snprintf(got, sizeof got, "%s/%s", folder, *name);
        snprintf(want, sizeof want, "%s/%s", source, *name);
        CHECK(same_file(archive, got, want), "%s", want);
        compared++;
    }
    archive_names_free(names);
    CHECK_U64(compared, 14 * ranks, "families");
}

static void the_generator_writes_the_same_files(void **state)
{
    generated(*state, 1);
    generated(*state, 4);
}

/* ---- jsonizer ---- */

static bool jsonized(const struct archive *archive, const char *et, const char *json)
{
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    char input[ARCHIVE_PATH];
    char output[ARCHIVE_PATH];
    CHECK(archive_path(archive, et, input), "%s", et);
    archive_output(archive, "out.json", output);
    notes_init(&notes, &mem, true);
    enum orr_status status = jsonizer_write(input, output, &mem, &notes, &err);
    notes_free(&notes);
    CHECK_OK(status, &err);
    return same_file(archive, output, json);
}

/* Every file NAME + suffix in a folder of the archive, beside NAME; how many there are. */
static size_t jsonize_folder(const struct archive *archive, const char *folder, const char *suffix)
{
    size_t count = 0;
    char **names = archive_names(archive, folder, "");
    for (char **name = names; *name != NULL; name++) {
        char json[ARCHIVE_PATH];
        char et[ARCHIVE_PATH];
        const char *found = strstr(*name, suffix);
        if (found == NULL)
            continue;
        int length = (int)(found - *name);
        snprintf(et, sizeof et, "%s/%.*s", folder, length, *name);
        snprintf(json, sizeof json, "%s/%.*s%s", folder, length, *name, suffix);
        CHECK(jsonized(archive, et, json), "%s", json);
        count++;
    }
    archive_names_free(names);
    return count;
}

static size_t jsonize_cases(const struct archive *archive, const char *parent)
{
    size_t count = 0;
    char **cases = archive_names(archive, parent, "");
    for (char **name = cases; *name != NULL; name++) {
        char path[ARCHIVE_PATH];
        snprintf(path, sizeof path, "%s/%s", parent, *name);
        count += jsonize_folder(archive, path, ".json");
    }
    archive_names_free(cases);
    return count;
}

static void the_jsonizer_writes_the_same_texts(void **state)
{
    const struct archive *archive = *state;
    CHECK_U64(jsonize_folder(archive, "hostonly", ".jsonl.txt"), 6, "real traces");
    CHECK_U64(jsonize_folder(archive, "generator/n1", ".json"), 14, "every kind of attribute");
    CHECK(jsonize_cases(archive, "text/out/DLRM_HybridParallel") > 0, "text workloads");
}

/* ---- visualizer ---- */

static void the_visualizer_draws_the_same_graphs(void **state)
{
    const struct archive *archive = *state;
    size_t compared = 0;
    char **names = archive_names(archive, "viz", "");
    for (char **name = names; *name != NULL; name++) {
        static const char *const outputs[][2] = {{"drawn.graphml", "graphml"}, {"drawn.dot", "src.gv"}};
        size_t length = strlen(*name);
        for (size_t i = 0; length > 3 && strcmp(*name + length - 3, ".et") == 0 && i < COUNT_OF(outputs); i++) {
            struct mem mem = {0};
            struct notes notes;
            struct orr_error err = {0};
            char input[ARCHIVE_PATH];
            char output[ARCHIVE_PATH];
            char file[ARCHIVE_PATH];
            snprintf(file, sizeof file, "viz/%s", *name);
            CHECK(archive_path(archive, file, input), "%s", file);
            archive_output(archive, outputs[i][0], output);
            notes_init(&notes, &mem, true);
            CHECK_OK(visualizer_write(input, output, i == 1, &mem, &notes, &err), &err);
            notes_free(&notes);
            snprintf(file, sizeof file, "viz/%.*s.%s", (int)length - 3, *name, outputs[i][1]);
            CHECK(same_file(archive, output, file), "%s", file);
            compared++;
        }
    }
    archive_names_free(names);
    CHECK_U64(compared, 16, "drawings");
}

static void a_log_the_original_refuses_is_refused(void **state)
{
    const struct archive *archive = *state;
    static const char *const logs[] = {"bad_name.csv", "npu_out_of_range.csv"};
    for (size_t i = 0; i < COUNT_OF(logs); i++) {
        struct mem mem = {0};
        struct orr_error err = {0};
        char name[64];
        char input[ARCHIVE_PATH];
        char output[ARCHIVE_PATH];
        snprintf(name, sizeof name, "timeline/%s", logs[i]);
        CHECK(archive_path(archive, name, input), "%s", name);
        archive_output(archive, "timeline.json", output);
        struct timeline timeline = {input, output, 4, 1000};
        CHECK(timeline_write(&timeline, &mem, &err) != ORR_OK && access(output, F_OK) != 0, "%s", name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(
        every_text_workload_is_converted_alike, the_generator_writes_the_same_files, the_jsonizer_writes_the_same_texts,
        the_visualizer_draws_the_same_graphs, a_log_the_original_refuses_is_refused)};
    return cmocka_run_group_tests(tests, archive_open, archive_close);
}
