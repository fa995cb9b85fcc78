/* SPDX-License-Identifier: Apache-2.0 */
/* Every trace that Chakra's converter was asked to convert, compared byte for byte with what it wrote, and every replay
 * with what it logged. Cases on which it failed must end in one of our errors, or in a result where only Python's
 * limits stood in the way. Skipped without the archive. */
#include <stdlib.h>
#include <sys/stat.h>

#include "compat/chakra/convert.h"
#include "tests/check.h"
#include "tests/convert/archive.h"

struct attempt {
    struct mem mem;
    struct notes notes;
    struct orr_error err;
    struct convert_summary summary;
    char output[ARCHIVE_PATH];
};

static enum orr_status convert(const struct archive *archive, const char *input, FILE *replay, struct attempt *attempt)
{
    char path[ARCHIVE_PATH];
    *attempt = (struct attempt){0};
    CHECK(archive_path(archive, input, path), "%s is in the archive", input);
    archive_output(archive, "converted.et", attempt->output);
    remove(attempt->output);
    notes_init(&attempt->notes, &attempt->mem, false);
    struct convert_request request = {.input = path,
                                      .output = attempt->output,
                                      .passes = 1,
                                      .replay = replay,
                                      .mem = &attempt->mem,
                                      .notes = &attempt->notes};
    enum orr_status status = pytorch_convert_compat(&request, &attempt->summary, &attempt->err);
    notes_free(&attempt->notes);
    CHECK_U64(attempt->mem.used, 0, "all memory is given back: %s", input);
    return status;
}

static bool is_equal(const struct archive *archive, const char *input, const char *want_name)
{
    struct attempt attempt;
    size_t got_size = 0;
    size_t want_size = 0;
    enum orr_status status = convert(archive, input, NULL, &attempt);
    if (status != ORR_OK) {
        printf("WRONG %s: %s\n", input, attempt.err.text);
        return false;
    }
    char *got = archive_read(archive, attempt.output, &got_size);
    char *want = archive_read(archive, want_name, &want_size);
    bool same = got != NULL && want != NULL && archive_same(input, got, got_size, want, want_size);
    free(got);
    free(want);
    return same;
}

static bool is_there(const struct archive *archive, const char *name)
{
    char path[ARCHIVE_PATH];
    return archive_path(archive, name, path);
}

/* A linked trace beside its ET file; also the one made without HTA, where it differs. */
static void compare_case(const struct archive *archive, const char *folder, const char *name, size_t *tried,
                         size_t *equal)
{
    static const char *const inputs[] = {"hdt.json", "hdt_nohta.json"};
    for (int form = 0; form < 2; form++) {
        for (int rank = 0; rank < 8; rank++) {
            char input[ARCHIVE_PATH];
            char file[64];
            char want[ARCHIVE_PATH];
            snprintf(input, sizeof input, "%s/%s/%s", folder, name, inputs[form]);
            snprintf(file, sizeof file, form == 0 ? "chakra.%d.et" : "chakra_nohta.%d.et", rank);
            snprintf(want, sizeof want, "%s/%s/%s", folder, name, file);
            if (is_there(archive, want) && is_there(archive, input)) {
                *tried += 1;
                *equal += is_equal(archive, input, want);
            }
        }
    }
}

static void every_converted_trace_equals_chakras(void **state)
{
    const struct archive *archive = *state;
    static const char *const folders[] = {"link", "edge"};
    size_t tried = 0;
    size_t equal = 0;
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        char **names = archive_names(archive, folders[i], "");
        for (size_t j = 0; names[j] != NULL; j++)
            compare_case(archive, folders[i], names[j], &tried, &equal);
        archive_names_free(names);
    }
    printf("%zu linked traces, %zu equal\n", tried, equal);
    CHECK(tried > 0, "the archive has cases");
    CHECK_U64(equal, tried, "every one of them is equal");
}

static void every_host_trace_equals_chakras(void **state)
{
    const struct archive *archive = *state;
    size_t tried = 0;
    size_t equal = 0;
    char **names = archive_names(archive, "hostonly", "");
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *end = strstr(names[i], ".json");
        if (end == NULL || strstr(names[i], ".jsonl") != NULL)
            continue;
        char input[ARCHIVE_PATH];
        char want[ARCHIVE_PATH];
        snprintf(input, sizeof input, "hostonly/%.*s.json", (int)(end - names[i]), names[i]);
        snprintf(want, sizeof want, "hostonly/%.*s.et", (int)(end - names[i]), names[i]);
        tried++;
        equal += is_equal(archive, input, want);
    }
    archive_names_free(names);
    printf("%zu host traces, %zu equal\n", tried, equal);
    CHECK(tried > 0, "the archive has cases");
    CHECK_U64(equal, tried, "every one of them is equal");
}

static void every_replay_equals_chakras(void **state)
{
    const struct archive *archive = *state;
    char **names = archive_names(archive, "simulate", "");
    size_t tried = 0;
    for (size_t i = 0; names[i] != NULL; i++) {
        char input[ARCHIVE_PATH];
        char want_name[ARCHIVE_PATH];
        struct attempt attempt;
        char *got = NULL;
        size_t got_size = 0;
        size_t want_size = 0;
        size_t stem = strcspn(names[i], ".");
        snprintf(input, sizeof input, "link/%.*s/hdt.json", (int)stem, names[i]);
        snprintf(want_name, sizeof want_name, "simulate/%.*s.txt", (int)stem, names[i]);
        if (!is_there(archive, input))
            continue;
        FILE *replay = open_memstream(&got, &got_size);
        CHECK_OK(convert(archive, input, replay, &attempt), &attempt.err);
        fclose(replay);
        char *want = archive_read(archive, want_name, &want_size);
        CHECK(want != NULL && archive_same(names[i], got, got_size, want, want_size), "%s", names[i]);
        free(got);
        free(want);
        tried++;
    }
    archive_names_free(names);
    printf("%zu replays equal\n", tried);
    CHECK(tried > 0, "the archive has replays");
}

/* Named by the archive's folders: …_err is a case on which the original fails. */
static void what_chakra_fails_on_ends_in_an_error_or_in_a_result(void **state)
{
    const struct archive *archive = *state;
    char **names = archive_names(archive, "edge", "conv_");
    size_t refused = 0;
    for (size_t i = 0; names[i] != NULL; i++) {
        char input[ARCHIVE_PATH];
        struct attempt attempt;
        struct stat file;
        size_t length = strlen(names[i]);
        if (length < 4 || strcmp(names[i] + length - 4, "_err") != 0)
            continue;
        snprintf(input, sizeof input, "edge/%s/hdt.json", names[i]);
        enum orr_status status = convert(archive, input, NULL, &attempt);
        bool only_python = strstr(names[i], "deep_chain") != NULL; /* its recursion limit */
        CHECK(status == (only_python ? ORR_OK : ORR_EINVAL), "%s: %s", names[i], attempt.err.text);
        CHECK((stat(attempt.output, &file) == 0) == only_python, "%s leaves no file", names[i]);
        refused += !only_python;
    }
    archive_names_free(names);
    printf("%zu refused\n", refused);
    CHECK(refused > 0, "the archive has such cases");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_converted_trace_equals_chakras),
        cmocka_unit_test(every_host_trace_equals_chakras),
        cmocka_unit_test(every_replay_equals_chakras),
        cmocka_unit_test(what_chakra_fails_on_ends_in_an_error_or_in_a_result),
    };
    return cmocka_run_group_tests(tests, archive_open, archive_close);
}
