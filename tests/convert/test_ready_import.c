/* SPDX-License-Identifier: Apache-2.0 */
/* `trace ready` says yes exactly where `trace import` succeeds, and says no with the same words' reason: on recordings
 * changed at random in every way that recordings go wrong, and on those that share nothing, are empty, or are cut. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/outfile.h"
#include "orrery.h"
#include "tests/check.h"
#include "tests/convert/make_recording.h"
#include "tests/folder.h"
#include "tests/prng.h"

enum { RANKS = 2, FILES = 4, TEXT_MOST = 1 << 20, LINES_MOST = 2000, TRIALS = 150 };

static struct orr_error err;
static const char *const names[FILES] = {"device_0.json", "host_0.json", "device_1.json", "host_1.json"};

static void path_of(char path[256], const char *place, const char *name)
{
    (void)snprintf(path, 256, "%s/%s/%s", folder, place, name);
}

static void make_place(const char *place, struct make_recording options)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, place);
    (void)mkdir(path, 0777);
    options.folder = path;
    options.ranks = RANKS;
    options.steps = options.steps == 0 ? 2 : options.steps;
    options.kernels = 3;
    for (options.rank = 0; options.rank < RANKS; options.rank++) {
        struct made_recording made;
        CHECK(make_recording(&options, &made), "rank %u", options.rank);
    }
}

static size_t read_text(const char *path, char *text)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    size_t size = fread(text, 1, TEXT_MOST - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return size;
}

static void write_bytes(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    (void)fwrite(text, 1, size, file);
    (void)fclose(file);
}

/* ---- changes ---- */

/* The lines of a text, each one event or node; the first and the last hold what is around them. */
static uint32_t split(char *text, char *lines[LINES_MOST])
{
    uint32_t count = 0;
    for (char *at = text; at != NULL && count < LINES_MOST;) {
        char *end = strchr(at, '\n');
        lines[count++] = at;
        if (end != NULL) {
            *end = '\0';
        }
        at = end == NULL || end[1] == '\0' ? NULL : end + 1;
    }
    return count;
}

/* Writes those lines between the first and the last that are kept, in their order or any. */
static void keep_lines(const char *path, struct prng *prng, char *text, const char *without, unsigned percent,
                       bool shuffled)
{
    static char out[2 * TEXT_MOST];
    char *lines[LINES_MOST];
    uint32_t order[LINES_MOST];
    uint32_t count = split(text, lines);
    size_t used = 0;
    if (count < 3) {
        return;
    }
    for (uint32_t i = 0; i < count - 2; i++) {
        order[i] = i;
    }
    if (shuffled) {
        prng_shuffle(prng, order, count - 2);
    }
    used += (size_t)snprintf(out, sizeof out, "%s\n", lines[0]);
    bool first = true;
    for (uint32_t i = 0; i < count - 2; i++) {
        char *line = lines[order[i] + 1];
        size_t length = strlen(line);
        length -= length > 0 && line[length - 1] == ',';
        if ((without != NULL && strstr(line, without) != NULL) || prng_below(prng, 100) < percent) {
            continue;
        }
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s", first ? "" : ",\n", (int)length, line);
        first = false;
    }
    used += (size_t)snprintf(out + used, sizeof out - used, "\n%s\n", lines[count - 1]);
    write_bytes(path, out, used);
}

/* Every `word` replaced, or one in `rarity`. */
static void replace(const char *path, struct prng *prng, const char *text, const char *word, const char *by,
                    uint32_t rarity)
{
    static char out[2 * TEXT_MOST];
    size_t used = 0;
    size_t length = strlen(word);
    for (const char *at = text; *at != '\0' && used < sizeof out - 64;) {
        if (strncmp(at, word, length) == 0 && prng_below(prng, rarity) == 0) {
            used += (size_t)snprintf(out + used, sizeof out - used, "%s", by);
            at += length;
        } else {
            out[used++] = *at++;
        }
    }
    write_bytes(path, out, used);
}

static void change(const char *place, struct prng *prng)
{
    static const char *const words[] = {"\"kernel\"", "cuda_runtime", "\"cpu_op\"",   "ProfilerStep",
                                        "gpu_mem",    "nccl",         "record_param", "c10d",
                                        "Event",      "user_annot",   "\"rf_id\"",    "process_group:init"};
    static const char *const keys[][2] = {
        {"\"correlation\"", "\"other\""},
        {"\"ts\"", "\"when\""},
        {"\"dur\": ", "\"dur\": -"},
        {"\"External id\"", "\"Ext\""},
        {"Record function id", "rf"},
        {"\"Collective name\"", "\"C\""},
        {"\"In msg nelems\"", "\"n\""},
        {"\"dtype\"", "\"d\""},
        {"Process Group", "PG"},
        {"\"stream\"", "\"s\""},
        {"\"traceEvents\"", "\"events\""},
        {"\"nodes\"", "\"knots\""},
        {"\"ts\": 1", "\"ts\": 1e300"},
        {"distributedInfo", "about"},
        {"\"value\": ", "\"value\": 9"},
        {"nccl", "xyz"},
        {"\"tid\": ", "\"tid\": 1"},
        {"\"world_size\": 2", "\"world_size\": 4"},
        {"\"ranks\": [0, 1]", "\"ranks\": [0]"},
        {"AllReduce", "Generic"},
        {"ncclDevKernel", "myKernel"},
    };
    static char text[TEXT_MOST];
    char path[256];
    uint32_t which = prng_below(prng, FILES);
    path_of(path, place, names[which]);
    size_t size = read_text(path, text);
    if (size == 0) {
        return;
    }
    switch (prng_below(prng, 9)) {
    case 0:
        (void)unlink(path);
        break;
    case 1:
        write_bytes(path, text, prng_below(prng, (uint32_t)size)); /* cut */
        break;
    case 2:
        keep_lines(path, prng, text, words[prng_below(prng, COUNT_OF(words))], 0, false);
        break;
    case 3:
        keep_lines(path, prng, text, NULL, prng_below(prng, 100), false);
        break;
    case 4:
        keep_lines(path, prng, text, NULL, 0, true);
        break;
    case 5: { /* the other rank's */
        char other[256];
        path_of(other, place, names[(which + 2) % FILES]);
        write_bytes(other, text, size);
        break;
    }
    case 6:
        text[prng_below(prng, (uint32_t)size)] = (char)prng_below(prng, 256);
        write_bytes(path, text, size);
        break;
    default: {
        uint32_t key = prng_below(prng, COUNT_OF(keys));
        replace(path, prng, text, keys[key][0], keys[key][1], 1 + 3 * prng_below(prng, 3));
        break;
    }
    }
}

/* ---- both commands ---- */

struct answer {
    enum orr_status ready, import;
    bool usable;
    char why[1024];
};

static struct answer ask(const char *place)
{
    char path[256];
    char prefix[256];
    struct answer answer = {0};
    (void)snprintf(path, sizeof path, "%s/%s", folder, place);
    (void)snprintf(prefix, sizeof prefix, "%s/out/%s", folder, place);
    struct orr_ready_options ready = {.folder = path};
    struct orr_import_options import = {.folder = path, .prefix = prefix, .jobs = 1};
    answer.ready = orr_trace_ready(&ready, NULL, &answer.usable, &err);
    answer.import = orr_trace_import(&import, NULL, NULL, &err);
    (void)snprintf(answer.why, sizeof answer.why, "%s", answer.import == ORR_OK ? "" : err.text);
    return answer;
}

static void ready_says_yes_exactly_where_import_succeeds(void **state)
{
    (void)state;
    unsigned yes = 0;
    unsigned no = 0;
    for (uint32_t seed = 0; seed < TRIALS; seed++) {
        struct prng prng = {seed};
        make_place("trial", (struct make_recording){.hip = seed % 3 == 0,
                                                    .without_args = seed % 5 == 0,
                                                    .without_attrs = seed % 7 == 0,
                                                    .without_clues = seed % 11 == 0});
        for (uint32_t changes = 1 + prng_below(&prng, 4); changes > 0; changes--) {
            change("trial", &prng);
        }
        struct answer answer = ask("trial");
        bool imported = answer.import == ORR_OK;
        bool says_yes = answer.ready == ORR_OK && answer.usable;
        CHECK(imported == says_yes, "seed %u: ready says %s (status %d), import: %s", seed, says_yes ? "yes" : "no",
              (int)answer.ready, imported ? "done" : answer.why);
        yes += imported;
        no += !imported;
    }
    CHECK(yes > TRIALS / 8 && no > TRIALS / 8, "both happen: %u and %u", yes, no);
}

/* ---- single faults ---- */

static void host_and_device_without_an_op_in_common_are_refused_by_both(void **state)
{
    (void)state;
    static char text[TEXT_MOST];
    struct prng prng = {0};
    char path[256];
    make_place("strangers", (struct make_recording){0});
    path_of(path, "strangers", "host_0.json");
    CHECK(read_text(path, text) > 0, "host trace");
    replace(path, &prng, text,
            "\"rf_id\", \"type\": \"uint64\", \"value\": ", "\"rf_id\", \"type\": \"uint64\", \"value\": 77777", 1);
    struct answer answer = ask("strangers");
    CHECK_STATUS(answer.import, ORR_EINVAL);
    CHECK_CONTAINS(answer.why, "share no op");
    CHECK(answer.ready == ORR_OK && !answer.usable, "ready says so too");
}

static void a_recording_of_nothing_is_refused_by_both(void **state)
{
    (void)state;
    char path[256];
    static const char text[] = "{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"user_annotation\", "
                               "\"name\": \"ProfilerStep#1\", \"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 900}]}";
    make_place("nothing", (struct make_recording){0});
    for (size_t i = 0; i < FILES; i++) {
        path_of(path, "nothing", names[i]);
        (void)unlink(path);
    }
    path_of(path, "nothing", "device_0.json");
    write_bytes(path, text, sizeof text - 1);
    struct answer answer = ask("nothing");
    CHECK_STATUS(answer.import, ORR_EINVAL);
    CHECK_CONTAINS(answer.why, "the profiler was active in no step");
    CHECK(answer.ready == ORR_OK && !answer.usable, "ready says so too");
}

struct heard {
    bool cut;
};

static void hear(void *context, const char *line)
{
    struct heard *heard = context;
    heard->cut = heard->cut || strstr(line, "the file ends early") != NULL;
}

static void a_cut_packed_recording_is_used_like_a_cut_plain_one(void **state)
{
    (void)state;
    static const char *const endings[] = {".json.gz", ".json.zst"};
    static char text[TEXT_MOST];
    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        char path[256];
        char packed[256];
        char prefix[256];
        struct stat about;
        struct io_outfile *file = NULL;
        struct heard heard = {0};
        struct orr_notices notices = {.warn = hear, .context = &heard};
        make_place("cut", (struct make_recording){.steps = 30}); /* several blocks of zstd */
        path_of(path, "cut", "device_0.json");
        size_t size = read_text(path, text);
        (void)snprintf(packed, sizeof packed, "%s/alone%s", folder, endings[i]);
        (void)snprintf(prefix, sizeof prefix, "%s/out/cut", folder);
        CHECK_OK(io_outfile_open(packed, io_outfile_form_of(packed), &file, &err), &err);
        (void)fwrite(text, 1, size, io_outfile_stream(file));
        CHECK_OK(io_outfile_commit(file, &err), &err);
        CHECK(stat(packed, &about) == 0 && truncate(packed, about.st_size * 4 / 5) == 0, "cut");
        struct orr_import_options import = {.folder = packed, .prefix = prefix};
        CHECK_OK(orr_trace_import(&import, &notices, NULL, &err), &err);
        CHECK(heard.cut, "%s: that it is cut is said", endings[i]);
        struct orr_ready_options ready = {.folder = packed};
        bool usable = false;
        CHECK_OK(orr_trace_ready(&ready, NULL, &usable, &err), &err);
        CHECK(usable, "%s", endings[i]);
    }
}

/* ---- batches ---- */

static void one_recording_that_fails_does_not_stop_a_batch(void **state)
{
    (void)state;
    char first[128];
    char bad[128];
    char out[128];
    char path[256];
    char *report = NULL;
    size_t size = 0;
    uint32_t failed = 9;
    make_place("good", (struct make_recording){0});
    (void)snprintf(first, sizeof first, "%s/good", folder);
    (void)snprintf(bad, sizeof bad, "%s/bad.json", folder);
    (void)snprintf(out, sizeof out, "%s/batch", folder);
    write_bytes(bad, "words", 5);
    path_of(path, "good", "device_1.json");
    const char *paths[] = {bad, first, path};
    struct orr_import_options import = {.paths = paths, .path_count = 3};
    FILE *stream = open_memstream(&report, &size);
    CHECK_OK(orr_trace_import_batch(&import, out, NULL, stream, &failed, &err), &err);
    (void)fclose(stream);
    CHECK_U64(failed, 1, "the first");
    CHECK_CONTAINS(report, "2 of 3 recordings imported");
    (void)snprintf(path, sizeof path, "%s/good.1.et", out);
    CHECK(access(path, F_OK) == 0, "%s", path);
    (void)snprintf(path, sizeof path, "%s/device_1.1.et", out);
    CHECK(access(path, F_OK) == 0, "%s", path);
    free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_and_device_without_an_op_in_common_are_refused_by_both),
        cmocka_unit_test(a_recording_of_nothing_is_refused_by_both),
        cmocka_unit_test(a_cut_packed_recording_is_used_like_a_cut_plain_one),
        cmocka_unit_test(one_recording_that_fails_does_not_stop_a_batch),
        cmocka_unit_test(ready_says_yes_exactly_where_import_succeeds),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
