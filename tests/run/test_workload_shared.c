/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that share their traces, and machines that exist in memory only, give what runs of their own files give. */
#include "tests/check.h"
#include "tests/folder.h"

static struct orr_error err;
static char workload[64], system_file[64];

static const char system_text[] =
    "{\"scheduling-policy\": \"LIFO\", \"endpoint-delay\": 10, \"active-chunks-per-dimension\": 1,"
    " \"preferred-dataset-splits\": 4, \"all-reduce-implementation\": [\"ring\"],"
    " \"all-gather-implementation\": [\"ring\"], \"reduce-scatter-implementation\": [\"ring\"],"
    " \"all-to-all-implementation\": [\"ring\"], \"collective-optimization\": \"localBWAware\", \"local-mem-bw\": 50}";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "%s", path);
}

static int make_inputs(void **state)
{
    if (make_folder(state) != 0) {
        return -1;
    }
    (void)snprintf(workload, sizeof workload, "%s/w", folder);
    (void)snprintf(system_file, sizeof system_file, "%s/system.json", folder);
    const struct orr_gen_options gen = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = "all-reduce", .bytes = 1 << 20, .npus = 4, .prefix = workload};
    write_file(system_file, system_text);
    return orr_gen(&gen, &err) == ORR_OK ? 0 : -1;
}

/* What a run says: its time, or why there is none, and its warnings. */
static const char *answer(struct orr_run_options *options)
{
    static char texts[2][4096];
    static unsigned next;
    char *text = texts[next++ % 2];
    struct orr_run *run = NULL;
    enum orr_status status = orr_run_open(options, &run, &err);
    if (status == ORR_OK) {
        status = orr_run_execute(run, &err);
    }
    int used = status == ORR_OK ? snprintf(text, sizeof texts[0], "%" PRIu64 " ns of %" PRIu32 " traces",
                                           orr_run_time_ns(run), orr_run_source_count(run))
                                : snprintf(text, sizeof texts[0], "%d %s", (int)status, err.text);
    for (size_t i = 0; run != NULL && i < orr_run_warning_count(run); i++) {
        used += snprintf(text + used, sizeof texts[0] - (size_t)used, "\n%s", orr_run_warning(run, i));
    }
    orr_run_close(run);
    return text;
}

/* A network file of so many ranks that is nowhere on disk. */
static struct orr_run_options options_of(unsigned ranks, char text[160], struct orr_text *network)
{
    struct orr_run_options options;
    orr_run_options_init(&options);
    (void)snprintf(text, 160, "topology: [ Ring ]\nnpus_count: [ %u ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n", ranks);
    *network = (struct orr_text){"nowhere/network.yml", text, strlen(text)};
    options.workload = workload;
    options.system = system_file;
    options.network = network->path;
    options.texts = network;
    options.text_count = 1;
    return options;
}

static void shared_traces_give_what_own_ones_give_for_any_number_of_ranks(void **state)
{
    (void)state;
    struct orr_workload *shared = NULL;
    CHECK_OK(orr_workload_open(workload, false, 0, &shared, &err), &err);
    CHECK_U64(orr_workload_ranks(shared), 4, "traces");
    for (unsigned ranks = 2; ranks <= 8; ranks++) {
        for (int grown = 0; grown < 2; grown++) {
            char text[160];
            struct orr_text network;
            struct orr_run_options options = options_of(ranks, text, &network);
            options.grow = grown == 1;
            const char *own = answer(&options);
            options.loaded = shared;
            CHECK_TEXT(answer(&options), own);
        }
    }
    orr_workload_close(shared);
}

static void shared_traces_of_another_reading_are_refused(void **state)
{
    (void)state;
    struct orr_workload *shared = NULL;
    char text[160];
    struct orr_text network;
    struct orr_run_options options = options_of(4, text, &network);
    CHECK_OK(orr_workload_open(workload, true, 0, &shared, &err), &err);
    options.loaded = shared;
    CHECK_CONTAINS(answer(&options), "with missing-cpu-op=cpu");
    options.missing_is_cpu = true;
    const char *with = answer(&options);
    options.loaded = NULL;
    CHECK_TEXT(answer(&options), with);
    orr_workload_close(shared);
    CHECK_STATUS(orr_workload_open("nowhere/w", false, 0, &shared, &err), ORR_EIO);
    CHECK_STATUS(orr_workload_open(workload, false, 100, &shared, &err), ORR_ENOMEM);
}

static void an_override_is_what_another_file_would_be(void **state)
{
    (void)state;
    char text[160];
    char other[160];
    struct orr_text network;
    struct orr_text faster;
    struct orr_run_options options = options_of(4, text, &network);
    const struct orr_override override = {"network", "bandwidth", "100", "--set", 1};
    options.overrides = &override;
    options.override_count = 1;
    const char *overridden = answer(&options);
    struct orr_run_options plain = options_of(4, other, &faster);
    char *digits = strstr(other, "50 ]");
    CHECK(digits != NULL, "the bandwidth is there");
    memcpy(digits, "1e2 ]\nlatency: [ 500 ]\n", sizeof "1e2 ]\nlatency: [ 500 ]\n");
    faster.size = strlen(other);
    CHECK_TEXT(answer(&plain), overridden);
    const struct orr_override lost = {"memory", "remote-mem-bw", "100", "--set", 3};
    options.overrides = &lost;
    CHECK_CONTAINS(answer(&options), "--set:3: \"memory.remote-mem-bw\": the run has no memory file");
}

static void a_workload_made_in_memory_gives_what_its_files_give(void **state)
{
    (void)state;
    char text[160];
    struct orr_text network;
    struct orr_workload *made = NULL;
    const struct orr_gen_options gen = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = "all-reduce", .bytes = 1 << 20, .npus = 4, .prefix = workload};
    struct orr_run_options options = options_of(4, text, &network);
    const char *own = answer(&options);
    CHECK_OK(orr_gen_workload(&gen, &made, &err), &err);
    options.loaded = made;
    CHECK_TEXT(answer(&options), own);
    orr_workload_close(made);
    struct orr_gen_options none = gen;
    none.type = "all-reduse";
    CHECK(orr_gen_workload(&none, &made, &err) == ORR_EINVAL, "there is no such collective");
    CHECK_CONTAINS(err.text, "all-reduce");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_traces_give_what_own_ones_give_for_any_number_of_ranks),
        cmocka_unit_test(shared_traces_of_another_reading_are_refused),
        cmocka_unit_test(an_override_is_what_another_file_would_be),
        cmocka_unit_test(a_workload_made_in_memory_gives_what_its_files_give),
    };
    return cmocka_run_group_tests(tests, make_inputs, remove_folder);
}
