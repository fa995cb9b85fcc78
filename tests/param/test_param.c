/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of parameters: what is read is what is written, the library refuses what the program refuses, and in the same
 * words. */
#include "param/param.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct orr_error err;

static const struct param_table run_tables[] = {{param_run, 0, 0}, {0}};

static char *written(const struct param *row, const void *from, size_t index)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    bool there = param_write(row, from, index, stream);
    (void)fclose(stream);
    if (!there) {
        free(text);
        return NULL;
    }
    return text;
}

static void every_default_is_one_that_its_row_can_read_and_write(void **state)
{
    (void)state;
    struct orr_run_options options;
    orr_run_options_init(&options);
    for (const struct param *row = param_run; row->name != NULL; row++) {
        if (row->initial == NULL) {
            continue;
        }
        struct orr_run_options again;
        char *text = written(row, &options, 0);
        orr_run_options_init(&again);
        CHECK(text != NULL, "%s has a default and writes nothing", row->name);
        CHECK_TEXT(text, row->initial);
        CHECK_OK(orr_run_set(&again, row->name, text, &err), &err);
        CHECK(param_same(row, &options, &again), "%s", row->name);
        free(text);
    }
}

static void what_is_set_by_name_is_written_as_it_was(void **state)
{
    (void)state;
    static const char *const given[][2] = {
        {"workload", "traces/ar"},
        {"backend", "flow"},
        {"cc", "hpcc"},
        {"routing", "adaptive"},
        {"rto", "500000ns"},
        {"queues-per-dim", "3"},
        {"jitter", "0.1"},
        {"injection-scale", "2.5"},
        {"missing-cpu-op", "cpu"},
        {"seed", "18446744073709551615"},
        {"memory-limit", "1048576"},
        {"link-down", "0-8@10000ns..1000000ns"},
        {"link-down", "1-9@5ns"},
        {"set", "network.bandwidth=100"},
    };
    struct orr_run_options options;
    orr_run_options_init(&options);
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        CHECK_OK(orr_run_set(&options, given[i][0], given[i][1], &err), &err);
    }
    size_t downs = 0;
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        const struct param *row = param_find(run_tables, given[i][0], strlen(given[i][0])).row;
        char *text = written(row, &options, strcmp(given[i][0], "link-down") == 0 ? downs++ : 0);
        CHECK_TEXT(text, given[i][1]);
        free(text);
    }
    CHECK_U64(options.rto_ns, 500000, "ns");
    orr_run_options_free(&options);
    CHECK(options.link_downs == NULL && options.overrides == NULL, "nothing points to what was freed");
}

static void microseconds_are_whole_ones(void **state)
{
    (void)state;
    static const struct param row = {"gap", .kind = PARAM_MICROSECONDS, .value = "TIME", .least = 1, .most = 5000};
    static const struct {
        const char *text, *says;
    } refused[] = {
        {"1500ns", "parameter 'gap': 1500ns is not a whole number of microseconds, which traces count in"},
        {"0", "parameter 'gap': 0 is not between 1 us and 5000 us"},
        {"6ms", "parameter 'gap': 6ms is not between 1 us and 5000 us"},
    };
    uint64_t us = 0;
    CHECK_OK(param_read(&row, NULL, "2ms", &us, &err), &err);
    CHECK_U64(us, 2000, "us");
    CHECK_OK(param_read(&row, NULL, "7", &us, &err), &err);
    char *text = written(&row, &us, 0);
    CHECK_TEXT(text, "7us");
    free(text);
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        CHECK(param_read(&row, NULL, refused[i].text, &us, &err) != ORR_OK, "%s", refused[i].text);
        CHECK_TEXT(err.text, refused[i].says);
        CHECK_U64(us, 7, "what is refused changes nothing");
    }
}

static void a_name_that_does_not_exist_is_refused_with_the_nearest(void **state)
{
    (void)state;
    struct orr_run_options options;
    orr_run_options_init(&options);
    CHECK_STATUS(orr_run_set(&options, "bakend", "flow", &err), ORR_EINVAL);
    CHECK_TEXT(err.text, "a run has no parameter \"bakend\"; did you mean \"backend\"?");
    CHECK_STATUS(orr_run_set(&options, "backend", "flwo", &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "parameter 'backend': \"flwo\" is not one of unaware, aware, packet, flow, auto");
    CHECK_STATUS(orr_run_set(&options, "rto", NULL, &err), ORR_EINVAL);
    CHECK_TEXT(err.text, "parameter 'rto' needs a value (TIME)");
}

/* What a user of the library can write into the struct and no command line could. */
static void the_library_refuses_what_the_program_cannot_say(void **state)
{
    (void)state;
    struct orr_run_options sound;
    orr_run_options_init(&sound);
    sound.workload = "none";
    sound.system = "none";
    sound.network = "none";
    struct orr_run_options wrong[16];
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        wrong[i] = sound;
    }
    wrong[0].backend = (enum orr_backend)77;
    wrong[1].routing = (enum orr_routing) - 3;
    wrong[2].congestion = (enum orr_congestion)200;
    wrong[3].rto_ns = 1000;
    wrong[4].congestion = ORR_CONGESTION_SWIFT;
    wrong[5].tuning.source = ORR_COMPUTE_FORCED;
    wrong[5].source_given = true;
    wrong[6].queues_per_dim = 0;
    wrong[7].jitter = NAN;
    wrong[8].contention = 1.5;
    wrong[9].tuning.compute_scale = -1;
    wrong[10].policy = (enum orr_policy)9;
    wrong[11].system = "";
    wrong[12].growth.strong = true;
    wrong[13].link_down_count = 1;
    wrong[14].size = 8;
    wrong[15].injection_scale = INFINITY;
    static const char *const says[] = {
        "parameter 'backend': 77 is no value of it",
        "parameter 'routing': -3 is no value of it",
        "parameter 'cc': 200 is no value of it",
        "parameter 'rto' needs parameter 'backend' packet, flow or auto",
        "parameter 'cc' needs parameter 'backend' packet, flow or auto",
        "parameter 'comp-source' forced needs parameter 'force-avg-kernel-ns' NS",
        "parameter 'queues-per-dim': 0 is not between 1 and 4294967295",
        "parameter 'jitter': nan must be a number of at least 0",
        "parameter 'contention': 1.5 must be from 0 (none) to 1",
        "parameter 'compute-factor': -1 must be more than 0",
        "parameter 'policy': 9 is no value of it",
        "missing parameter 'system' FILE",
        "parameter 'strong' needs parameter 'grow'",
        "parameter 'link-down' needs parameter 'backend'",
        "start from orr_run_options_init",
        "parameter 'injection-scale': inf must be a number of at least 0",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct orr_run *run = NULL;
        enum orr_status status = orr_run_open(&wrong[i], &run, &err);
        CHECK(status == ORR_EINVAL || status == ORR_ERANGE, "case %zu: status %d", i, (int)status);
        CHECK_CONTAINS(err.text, says[i]);
    }
}

static void a_front_end_spells_parameters_as_options(void **state)
{
    (void)state;
    char text[64];
    (void)param_spell("parameter 'rto' needs parameter 'backend' packet", text, sizeof text);
    CHECK_TEXT(text, "--rto needs --backend packet");
    (void)param_spell("a parameter of the model, parameter 'x y'", text, sizeof text);
    CHECK_TEXT(text, "a parameter of the model, parameter 'x y'");
    size_t whole = param_spell("parameter 'backend' flow", text, 6);
    CHECK_TEXT(text, "--bac");
    CHECK_U64(whole, strlen("--backend flow"), "characters");
}

static void no_two_rows_of_a_run_share_a_name_a_letter_or_a_place(void **state)
{
    (void)state;
    for (const struct param *row = param_run; row->name != NULL; row++) {
        CHECK(row->help != NULL && row->help[strlen(row->help) - 1] != '.', "%s: its help", row->name);
        CHECK(row->commands != 0, "%s is nobody's", row->name);
        CHECK((row->kind == PARAM_READ) == (row->read != NULL), "%s: who reads it", row->name);
        CHECK(row->kind != PARAM_WORD || row->words != NULL, "%s has no words", row->name);
        CHECK(row->kind != PARAM_TIME || row->unit != NULL, "%s has no unit", row->name);
        for (const struct param *other = row + 1; other->name != NULL; other++) {
            CHECK(strcmp(row->name, other->name) != 0, "%s twice", row->name);
            CHECK(row->letter == '\0' || row->letter != other->letter, "-%c twice", row->letter);
            CHECK(row->kind == PARAM_READ || row->place != other->place || other->kind == PARAM_READ, "%s and %s",
                  row->name, other->name);
        }
    }
}

static void a_simulation_of_simai_is_refused_what_it_cannot_have(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *said;
    } cases[] = {
        {"backend", "unaware", "parameter 'backend': SimAI's simulation runs on a wired machine: packet, flow or auto"},
        {"backend", "aware", "parameter 'backend': SimAI's simulation runs on a wired machine: packet, flow or auto"},
        {"cc", "hpcc", "parameter 'cc' is not one of SimAI's simulation"},
        {"network", "network.yml", "parameter 'network' is not one of SimAI's simulation"},
        {"policy", "streams", "parameter 'policy' is not one of SimAI's simulation"},
        {"rto", "1ms", "parameter 'rto' is not one of SimAI's simulation"},
        {"link-down", "0-1@2us", "parameter 'link-down' is not one of SimAI's simulation"},
        {"set", "network.CC_MODE=1", "parameter 'set' is not one of SimAI's simulation"},
        {"grow", NULL, "parameter 'grow' is not one of SimAI's simulation"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct orr_simai_simulation options;
        struct orr_run *simai = NULL;
        orr_simai_simulation_init(&options);
        options.run.workload = "w.txt";
        options.topology = "sx";
        options.config = "SimAI.conf";
        CHECK_OK(param_simai_simulation_check(&options, &err), &err);
        CHECK_OK(orr_run_set(&options.run, "no-fast-forward", "true", &err), &err);
        CHECK_OK(param_simai_simulation_check(&options, &err), &err);
        CHECK_OK(orr_run_set(&options.run, cases[i].name, cases[i].value, &err), &err);
        CHECK(orr_simai_open(&options, &simai, &err) == ORR_EINVAL, "%s", cases[i].name);
        CHECK_TEXT(err.text, cases[i].said);
        orr_run_options_free(&options.run);
    }
}

static void words_and_numbers_of_simai_that_are_none_are_refused(void **state)
{
    (void)state;
    struct orr_simai_simulation run;
    struct orr_run *simai = NULL;
    orr_simai_simulation_init(&run);
    CHECK(orr_simai_open(&run, &simai, &err) == ORR_EINVAL, "without files");
    CHECK_TEXT(err.text, "missing parameter 'workload' FILE (the workload)");
    run.run.workload = run.topology = run.config = "none";
    run.schedule = (enum orr_simai_schedule)7;
    CHECK(orr_simai_open(&run, &simai, &err) == ORR_ERANGE, "no such schedule");
    CHECK_CONTAINS(err.text, "parameter 'schedule': 7 is no value of it");
    run.schedule = ORR_SIMAI_INTERLEAVED;
    run.compat = true;
    CHECK(orr_simai_open(&run, &simai, &err) == ORR_EINVAL, "SimAI 1.6 runs no pipeline");
    struct orr_simai_analytical count;
    orr_simai_analytical_init(&count);
    CHECK(count.pp_overlap < 0, "not given");
    CHECK_OK(param_simai_analytical_check(&count, &err), &err);
    count.workload = "none";
    count.gpus = 8;
    count.compat = true;
    count.dp_overlap = 1.5;
    CHECK(orr_simai_analytical(&count, NULL, NULL, &err) == ORR_ERANGE, "a share of more than all");
    CHECK_TEXT(err.text, "parameter 'dp-overlap': 1.5 is not a share between 0 and 1");
    count.dp_overlap = 0;
    count.nic = -1;
    CHECK(orr_simai_analytical(&count, NULL, NULL, &err) == ORR_ERANGE, "a bandwidth below 0");
    CHECK_TEXT(err.text, "parameter 'nic': -1 is no bandwidth: one is above 0");
}

static void options_are_written_as_the_command_that_gives_them(void **state)
{
    (void)state;
    static const struct param_table tables[] = {{param_train, 0, 0}, {0}};
    static const char *const said[][2] = {{"family", "resnet"},  {"layers", "50"},   {"attention", "mla"},
                                          {"blocks", "3,4,6,3"}, {"gated", "false"}, {"machine", "dgx-h100:2 > rail"},
                                          {"tp", "2"},           {"sp", NULL},       {"overlap", "dp,pp"}};
    struct orr_train_options options, initial;
    orr_train_options_init(&options);
    orr_train_options_init(&initial);
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        struct param_found found = param_find(tables, said[i][0], strlen(said[i][0]));
        CHECK_OK(param_read(found.row, NULL, said[i][1], &options, &err), &err);
    }
    char text[512] = "";
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK_OK(param_write_command(param_train, 0, &options, &initial, stream, &err), &err);
    param_write_word("it's", stream);
    (void)fclose(stream);
    CHECK_TEXT(text, " --family resnet --layers 50 --attention mla --blocks 3,4,6,3 --gated false --machine "
                     "'dgx-h100:2 > rail' --tp 2 --sp --overlap dp,pp'it'\\''s'");
}

TEST_MAIN(every_default_is_one_that_its_row_can_read_and_write, what_is_set_by_name_is_written_as_it_was,
          microseconds_are_whole_ones, a_name_that_does_not_exist_is_refused_with_the_nearest,
          the_library_refuses_what_the_program_cannot_say, a_front_end_spells_parameters_as_options,
          no_two_rows_of_a_run_share_a_name_a_letter_or_a_place, a_simulation_of_simai_is_refused_what_it_cannot_have,
          words_and_numbers_of_simai_that_are_none_are_refused, options_are_written_as_the_command_that_gives_them)
