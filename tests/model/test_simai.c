/* SPDX-License-Identifier: Apache-2.0 */
/* The analytical mode part by part: words, tables, bandwidth files, what a collective costs in both ways of counting.
 */
#include <math.h>
#include <unistd.h>

#include "compat/simai/analytical.h"
#include "tests/check.h"
#include "tests/folder.h"

static struct mem mem;

static void write_text(const char *name, const char *text, char path[64])
{
    (void)snprintf(path, 64, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0, "%s", path);
}

/* ---- words ---- */

static void a_word_is_an_operation_and_a_group(void **state)
{
    static const struct {
        const char *word;
        enum simai_op op;
        enum simai_group group;
    } words[] = {
        {"NONE", SIMAI_OP_NONE, SIMAI_GROUP_NONE},
        {"ALLREDUCE", SIMAI_OP_ALLREDUCE, SIMAI_GROUP_TP},
        {"ALLGATHER_EP", SIMAI_OP_ALLGATHER, SIMAI_GROUP_EP},
        {"REDUCESCATTER_DP_EP", SIMAI_OP_REDUCESCATTER, SIMAI_GROUP_DP_EP},
        {"ALLGATHER_CP", SIMAI_OP_ALLGATHER, SIMAI_GROUP_CP},
        {"ALLTOALL_TP", SIMAI_OP_ALLTOALL, SIMAI_GROUP_NONE},
        {"ALLREDUCEALLTOALL", SIMAI_OP_ALLREDUCE, SIMAI_GROUP_NONE},
        {"BROADCAST", SIMAI_OP_NONE, SIMAI_GROUP_NONE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        enum simai_op op;
        enum simai_group group;
        simai_word_read(words[i].word, strlen(words[i].word), SIMAI_GROUP_TP, &op, &group);
        CHECK(op == words[i].op && group == words[i].group, "%s", words[i].word);
    }
}

static void a_number_becomes_ticks_as_aarch64_converts_it(void **state)
{
    (void)state;
    CHECK_U64(simai_ticks(12.9), 12, "cut");
    CHECK_U64(simai_ticks((double)NAN), 0, "no number");
    CHECK_U64(simai_ticks(-5), 0, "negative");
    CHECK_U64(simai_ticks((double)INFINITY), UINT64_MAX, "too large");
}

/* ---- tables ---- */

#define TABLE_HEAD "Size,1,2,4,8,16,32,64,128,m16,m32,m64,m\n"

static void read_table(const char *text, struct simai_ratio_table *table)
{
    char path[64];
    struct orr_error err = {0};
    write_text("table.csv", text, path);
    CHECK_OK(simai_ratio_read(path, &mem, table, &err), &err);
}

static void a_ratio_lies_between_its_rows_and_is_told_by_the_last(void **state)
{
    struct simai_ratio_table table;
    (void)state;
    read_table(TABLE_HEAD "100,0.4,,1,1,1,1,1,1,1,1,1,\n200,0.6,,1,1,1,1,1,1,1,1,1,1\n300,0.8,,1,1,1,1,1,1,1,1,1,1\n",
               &table);
    CHECK(simai_ratio_value(&table, 50, 1) == 0.4 / 0.8, "the first row's below it");
    CHECK(simai_ratio_value(&table, 150, 1) == (0.4 + (0.6 - 0.4) * 50 / 100) / 0.8, "on the line");
    CHECK(simai_ratio_value(&table, 1e12, 1) == 1, "the last row's above it");
    CHECK(simai_ratio_value(&table, 150, 2) == 1, "an empty cell is 1");
    CHECK(simai_ratio_limit(&table) == 300, "as far as it goes");
    struct simai_ratios ratios = {.mem = &mem, .tables = {table}};
    simai_ratios_free(&ratios);
    CHECK(simai_ratio_value(&ratios.tables[0], 150, 1) == 1, "1 without a table");
    CHECK_U64(mem.used, 0, "all given back");
}

static void a_bad_table_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *reason;
    } bad[] = {
        {"Size,1\n100,1\n", "2 columns"},
        {TABLE_HEAD "100,x,1,1,1,1,1,1,1,1,1,1,1\n", ":2:5: \"x\" is not a number"},
        {TABLE_HEAD "100,0,1,1,1,1,1,1,1,1,1,1,1\n", "not above 0"},
        {TABLE_HEAD "100,1,1,1,1,1,1,1,1,1,1,1,1\n100,1,1,1,1,1,1,1,1,1,1,1,1\n", ":3: sizes must grow"},
        {TABLE_HEAD, "no rows"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char path[64];
        struct simai_ratio_table table;
        struct orr_error err = {0};
        write_text("bad.csv", bad[i].text, path);
        CHECK(simai_ratio_read(path, &mem, &table, &err) != ORR_OK, "%s", bad[i].text);
        CHECK_CONTAINS(err.text, bad[i].reason);
        CHECK_U64(mem.used, 0, "nothing held");
    }
}

static void servers_that_are_not_listed_are_rounded_up(void **state)
{
    (void)state;
    CHECK_U64(simai_ratio_column(1), 1, "one");
    CHECK_U64(simai_ratio_column(3), 3, "three as four");
    CHECK_U64(simai_ratio_column(1000), 8, "the last");
    CHECK_U64(simai_original_ratio_column(3), 5, "SimAI: three as sixteen");
    CHECK_U64(simai_original_ratio_column(9), 9, "SimAI: nine is another table");
}

/* ---- bandwidth files ---- */

static void both_forms_of_a_bandwidth_file_read_alike(void **state)
{
    static const char flat[] = "test\nTP:\nallreduce,: 300\nallgather,: null\nEP:\nallgather,: 45\nalltoall,: 80\nPP:\n"
                               "busbw: 47.5";
    static const char indented[] = "# ours\nTP:\r\n  allreduce: 300   # GB/s\n  allgather: ~\n\nEP:\n  allgather:  45\n"
                                   "  alltoall: 80\nPP:\n  busbw: 47.5\n";
    struct simai_busbw one;
    struct simai_busbw other;
    struct orr_error err = {0};
    (void)state;
    CHECK_OK(simai_busbw_parse("a", flat, strlen(flat), &one, &err), &err);
    CHECK_OK(simai_busbw_parse("b", indented, strlen(indented), &other, &err), &err);
    CHECK(memcmp(&one, &other, sizeof one) == 0, "the same numbers");
    CHECK(one.value[SIMAI_GROUP_TP][SIMAI_OP_ALLREDUCE] == 300, "given");
    CHECK(one.value[SIMAI_GROUP_TP][SIMAI_OP_ALLGATHER] == 0, "not given");
    CHECK(one.value[SIMAI_GROUP_DP_EP][SIMAI_OP_ALLGATHER] == 45, "EP's all-gather is between expert groups");
    CHECK(one.value[SIMAI_GROUP_EP][SIMAI_OP_ALLTOALL] == 80 && one.pp == 47.5, "EP's all-to-all is inside one");
}

static void a_section_of_dp_ep_goes_before_that_of_ep(void **state)
{
    static const char text[] = "DP_EP:\nallgather: 50\nEP:\nallgather: 45\n";
    struct simai_busbw busbw;
    struct orr_error err = {0};
    (void)state;
    CHECK_OK(simai_busbw_parse("a", text, strlen(text), &busbw, &err), &err);
    CHECK(busbw.value[SIMAI_GROUP_DP_EP][SIMAI_OP_ALLGATHER] == 50, "the more precise one");
}

static void a_bad_bandwidth_file_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *reason;
    } bad[] = {
        {"TP:\nallreduc: 3\n", "f:2: unknown key \"allreduc\"; did you mean \"allreduce\"?"},
        {"XP:\n", "f:1: unknown section \"XP\""},
        {"allreduce: 3\n", "f:1: \"allreduce\" stands before the first section"},
        {"TP:\nallreduce: fast\n", "f:2: allreduce is a bandwidth in GB/s or null, not \"fast\""},
        {"TP:\nallreduce: -1\n", "f:2: allreduce is -1"},
        {"a\nb\n", "f:2: \"b\" is neither"},
        {"PP:\nallreduce: 3\n", "section PP has busbw"},
        {"TP:\nall\001reduce: 3\n", "f:2: a control character"},
        {"", "f: no bandwidth in it"},
        {"TP:\nallreduce: null\nPP:\nbusbw: ~\n", "f: no bandwidth in it"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct simai_busbw busbw = {.pp = 7};
        struct orr_error err = {0};
        CHECK(simai_busbw_parse("f", bad[i].text, strlen(bad[i].text), &busbw, &err) != ORR_OK, "%s", bad[i].text);
        CHECK_CONTAINS(err.text, bad[i].reason);
        CHECK(busbw.pp == 7, "an output is written only on success");
    }
}

/* ---- what a collective costs ---- */

static const struct simai_ratios no_ratios;

/* 8 GPUs and 8 NICs a server, NVLink 400 GB/s, NICs 50 GB/s. */
static struct simai_machine machine(bool compat)
{
    return (struct simai_machine){.gpus = 64,
                                  .gpus_per_server = 8,
                                  .nics_per_server = 8,
                                  .nvlink = 400,
                                  .nic = 50,
                                  .ratios = &no_ratios,
                                  .original = compat ? &simai_original : NULL};
}

static uint64_t cost(const struct simai_machine *m, struct simai_collective collective)
{
    uint64_t ns = 0;
    CHECK(simai_collective_time(m, &collective, &ns) == SIMAI_FINE, "a time");
    return ns;
}

static const uint64_t GIB = UINT64_C(1) << 30;

static void a_collective_takes_its_size_over_the_bandwidth(void **state)
{
    struct simai_machine m = machine(false);
    (void)state;
    /* 1 GiB at 400 GB/s, 7/8 of it: 2.1875 ms; an all-reduce twice that. */
    CHECK_U64(cost(&m, (struct simai_collective){SIMAI_OP_ALLGATHER, SIMAI_GROUP_TP, GIB, 8, 8, 1}), 2187500, "NVLink");
    CHECK_U64(cost(&m, (struct simai_collective){SIMAI_OP_ALLREDUCE, SIMAI_GROUP_TP, GIB, 8, 8, 1}), 4375000, "twice");
    /* TP 8 leaves a DP rank one NIC of the server's eight: 50 GB/s. */
    CHECK_U64(cost(&m, (struct simai_collective){SIMAI_OP_ALLGATHER, SIMAI_GROUP_DP, GIB, 8, 8, 1}), 17500000, "a NIC");
}

static void a_data_parallel_group_inside_a_server_uses_nvlink(void **state)
{
    struct simai_collective collective = {SIMAI_OP_ALLGATHER, SIMAI_GROUP_DP, GIB, 4, 2, 1};
    struct simai_machine right = machine(false);
    struct simai_machine compat = machine(true);
    (void)state;
    CHECK_U64(cost(&right, collective), 1875000, "400 GB/s, 3/4");
    /* SimAI takes 4 ranks for 4 servers of 4 GPUs and 4 NICs, 200 GB/s. */
    CHECK_U64(cost(&compat, collective), 3750000, "as four servers");
}

static void a_rank_with_less_than_a_nic_has_a_part_of_one(void **state)
{
    struct simai_collective collective = {SIMAI_OP_ALLGATHER, SIMAI_GROUP_DP, GIB, 8, 8, 1};
    struct simai_machine right = machine(false);
    struct simai_machine compat = machine(true);
    (void)state;
    right.nics_per_server = compat.nics_per_server = 4;
    CHECK_U64(cost(&right, collective), 35000000, "25 GB/s");
    CHECK_U64(cost(&compat, collective), 0, "SimAI: none at all, and no time");
}

static void one_rank_costs_nothing(void **state)
{
    struct simai_collective collective = {SIMAI_OP_ALLREDUCE, SIMAI_GROUP_TP, GIB, 1, 1, 1};
    struct simai_machine m = machine(false);
    float algorithm = -1;
    float bus = -1;
    (void)state;
    CHECK_U64(cost(&m, collective), 0, "nobody to talk to");
    simai_collective_rates(&m, &collective, 0, &algorithm, &bus);
    CHECK(algorithm == 0 && bus == 0, "and no rate");
    m.original = &simai_original;
    CHECK_U64(cost(&m, collective), 0, "in compat too");
    simai_collective_rates(&m, &collective, 0, &algorithm, &bus);
    CHECK(isinf(algorithm) && isnan(bus), "but with the rates SimAI prints");
}

static void a_small_collective_costs_what_was_measured(void **state)
{
    struct simai_collective collective = {SIMAI_OP_ALLREDUCE, SIMAI_GROUP_TP, 4096, 8, 8, 1};
    struct simai_machine m = machine(false);
    (void)state;
    CHECK_U64(cost(&m, collective), 15000, "8 ranks");
    collective.ranks = 12; /* half way between 15000 and 66000 */
    CHECK_U64(cost(&m, collective), 40500, "12 ranks");
    collective.ranks = 256; /* on as from 64 to 128: 1875 ns a rank */
    CHECK_U64(cost(&m, collective), 560000, "256 ranks");
    m.original = &simai_original;
    CHECK_U64(cost(&m, collective), 0, "SimAI has no number for it");
}

/* SimAI's own times jump down at 1 MiB: 66 us for a byte less on 16 ranks, 9 us for that. */
static void more_bytes_never_take_less_time(void **state)
{
    struct simai_machine m = machine(false);
    (void)state;
    for (int32_t ranks = 2; ranks <= 64; ranks *= 2) {
        struct simai_collective collective = {SIMAI_OP_ALLGATHER, SIMAI_GROUP_TP, 1, ranks, ranks, 1};
        uint64_t before = 0;
        for (collective.bytes = 1; collective.bytes < 64 * (GIB / 1024); collective.bytes += 1 + collective.bytes / 3) {
            uint64_t now = cost(&m, collective);
            CHECK(now >= before, "%d ranks, %lu bytes", ranks, (unsigned long)collective.bytes);
            before = now;
        }
        collective.bytes = (1 << 20) - 1;
        uint64_t below = cost(&m, collective);
        collective.bytes++;
        CHECK(cost(&m, collective) - below <= 1, "no jump on %d ranks", ranks);
        m.original = &simai_original;
        CHECK(cost(&m, collective) < below, "SimAI's jumps on %d ranks", ranks);
        m.original = NULL;
    }
}

static void beyond_the_table_simai_gives_up_and_we_take_the_last_row(void **state)
{
    struct simai_collective collective = {SIMAI_OP_ALLGATHER, SIMAI_GROUP_TP, 20 * GIB, 8, 8, 1};
    struct simai_ratios ratios = {.mem = &mem};
    struct simai_machine m = machine(true);
    uint64_t ns = 0;
    (void)state;
    read_table(TABLE_HEAD "16777216,.5,1,1,1,1,1,1,1,1,1,1,1\n17179869184,1,1,1,1,1,1,1,1,1,1,1,1\n",
               &ratios.tables[0]);
    m.ratios = &ratios;
    CHECK(simai_collective_time(&m, &collective, &ns) == SIMAI_BEYOND_TABLE, "above 16 GiB");
    m.original = NULL;
    CHECK(simai_collective_time(&m, &collective, &ns) == SIMAI_FINE && ns == 43750000, "full bandwidth");
    simai_ratios_free(&ratios);
}

static void a_measured_bandwidth_goes_before_the_machine(void **state)
{
    static const char text[] = "TP:\nallgather: 200\n";
    struct simai_collective collective = {SIMAI_OP_ALLGATHER, SIMAI_GROUP_TP, GIB, 8, 8, 1};
    struct simai_machine m = machine(false);
    struct simai_busbw busbw;
    struct orr_error err = {0};
    uint64_t ns = 0;
    (void)state;
    CHECK_OK(simai_busbw_parse("f", text, strlen(text), &busbw, &err), &err);
    m.busbw = &busbw;
    CHECK_U64(cost(&m, collective), 4375000, "200 GB/s");
    collective.op = SIMAI_OP_ALLREDUCE;
    CHECK_U64(cost(&m, collective), 4375000, "what it does not say is the machine's");
    m.nvlink = 0;
    CHECK(simai_collective_time(&m, &collective, &ns) == SIMAI_NO_BANDWIDTH, "or nobody's");
}

/* ---- whole workloads ---- */

#define HEADER "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 1 ga: 4 all_gpus: 64 "

static enum orr_status analyse(const char *text, const struct simai_machine *m, struct notes *notes,
                               struct simai_analysis *analysis, struct orr_error *err)
{
    char path[64];
    struct simai_text read;
    write_text("workload.txt", text, path);
    enum orr_status status = simai_text_read(path, &mem, true, &read, err);
    if (status == ORR_OK) {
        status = simai_analysis_make(m, &read, &mem, notes, analysis, err);
        text_free(&read.workload);
    }
    return status;
}

static void a_pipeline_sends_at_the_bandwidth_of_a_nic(void **state)
{
    struct simai_machine m = machine(false);
    struct simai_analysis analysis;
    struct orr_error err = {0};
    struct notes notes;
    (void)state;
    notes_init(&notes, &mem, false);
    m.pp_overlap = 0.5F;
    CHECK_OK(analyse(HEADER "pp_comm: 53687091\n1\nrow -1 1000 NONE 0 1000 NONE 0 2000 NONE 0 1\n", &m, &notes,
                     &analysis, &err),
             &err);
    /* A message takes 1 ms (53687091 bytes at 50 GB/s), half of which hides. Two micro-batches at a time go ahead and
     * come back, twice; the work of 1 us each hides behind that, but for the first and the last. */
    CHECK(fabs(analysis.sums.pipeline - 2000) < 2, "%f us", analysis.sums.pipeline);
    CHECK(analysis.sums.compute == 4, "compute");
    CHECK(fabs(analysis.sums.bubble - 1) < 1e-9, "one of four micro-batches, of 4 us in all");
    simai_analysis_free(&analysis);
    m.original = &simai_original;
    CHECK_OK(analyse(HEADER "pp_comm: 53687091\n1\nrow -1 1000 NONE 0 1000 NONE 0 2000 NONE 0 1\n", &m, &notes,
                     &analysis, &err),
             &err);
    /* SimAI divides by the overlap: 8 * 0.05 / 0.5 s, in us, times the rest. */
    CHECK(fabs(analysis.sums.pipeline - 400000) <= 1, "%f us", analysis.sums.pipeline);
    simai_analysis_free(&analysis);
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "all given back");
}

static void missing_rows_are_those_read_last_in_compat_and_a_note_otherwise(void **state)
{
    static const char text[] = HEADER "\n3\nrow -1 1000 ALLREDUCE 2097152 0 NONE 0 0 NONE 0 1\n";
    struct simai_machine m = machine(true);
    struct simai_analysis analysis;
    struct orr_error err = {0};
    struct notes notes;
    (void)state;
    notes_init(&notes, &mem, false);
    CHECK_OK(analyse(text, &m, &notes, &analysis, &err), &err);
    CHECK_U64(analysis.row_count, 3, "as declared");
    CHECK_U64(analysis.rows[2].costs[TEXT_FWD].compute, 1000, "the last row's time");
    CHECK_U64(analysis.rows[2].costs[TEXT_FWD].comm, 0, "and no collective");
    CHECK_U64(analysis.rows[2].name.length, 0, "nor name");
    simai_analysis_free(&analysis);
    m.original = NULL;
    CHECK_OK(analyse(text, &m, &notes, &analysis, &err), &err);
    CHECK_U64(analysis.row_count, 1, "as there are");
    CHECK_U64(notes.count, 1, "one note");
    simai_analysis_free(&analysis);
    notes_free(&notes);
}

static void compat_rounds_what_it_reads_to_32_bits(void **state)
{
    static const char text[] = HEADER "\n1\nrow -1 16777217 ALLREDUCE 4 0 NONE 0 0 ALLGATHER 29251404288 1\n";
    struct simai_machine m = machine(true);
    struct simai_analysis analysis;
    struct orr_error err = {0};
    struct notes notes;
    (void)state;
    notes_init(&notes, &mem, false);
    for (int compat = 1; compat >= 0; compat--) {
        m.original = compat == 1 ? &simai_original : NULL;
        CHECK_OK(analyse(text, &m, &notes, &analysis, &err), &err);
        const struct simai_cost *costs = analysis.rows[0].costs;
        CHECK_U64(costs[TEXT_FWD].compute, compat ? 16777216 : 16777217, "a time");
        CHECK_U64(costs[TEXT_WG].collective.bytes, compat ? 29251403776 : 29251404288, "a size");
        CHECK_U64(costs[TEXT_FWD].collective.bytes, compat ? 4096 : 4, "a small forward size");
        simai_analysis_free(&analysis);
    }
    notes_free(&notes);
}

static void what_does_not_fit_the_machine_is_refused(void **state)
{
    static const struct {
        const char *text, *reason;
        bool compat;
    } bad[] = {
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 7\n0\n", "64 GPUs (parameter 'gpus') do not divide into TP 7",
         false},
        {"HYBRID_CUSTOMIZED ep: 1\n0\n", "HYBRID_CUSTOMIZED", false},
        {HEADER "pp_comm: 3000000000\n0\n", "above 2147483647", true},
        {HEADER "\n2000000\n", "2000000 rows are declared", true},
        {"WHATEVER\n0\n", "unknown policy", false},
    };
    struct notes notes;
    (void)state;
    notes_init(&notes, &mem, false);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct simai_machine m = machine(bad[i].compat);
        struct simai_analysis analysis;
        struct orr_error err = {0};
        CHECK(analyse(bad[i].text, &m, &notes, &analysis, &err) != ORR_OK, "%s", bad[i].text);
        CHECK_CONTAINS(err.text, bad[i].reason);
    }
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "nothing held");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_an_operation_and_a_group),
        cmocka_unit_test(a_number_becomes_ticks_as_aarch64_converts_it),
        cmocka_unit_test(a_ratio_lies_between_its_rows_and_is_told_by_the_last),
        cmocka_unit_test(a_bad_table_is_refused_with_its_place),
        cmocka_unit_test(servers_that_are_not_listed_are_rounded_up),
        cmocka_unit_test(both_forms_of_a_bandwidth_file_read_alike),
        cmocka_unit_test(a_section_of_dp_ep_goes_before_that_of_ep),
        cmocka_unit_test(a_bad_bandwidth_file_is_refused_with_its_line),
        cmocka_unit_test(a_collective_takes_its_size_over_the_bandwidth),
        cmocka_unit_test(a_data_parallel_group_inside_a_server_uses_nvlink),
        cmocka_unit_test(a_rank_with_less_than_a_nic_has_a_part_of_one),
        cmocka_unit_test(one_rank_costs_nothing),
        cmocka_unit_test(a_small_collective_costs_what_was_measured),
        cmocka_unit_test(more_bytes_never_take_less_time),
        cmocka_unit_test(beyond_the_table_simai_gives_up_and_we_take_the_last_row),
        cmocka_unit_test(a_measured_bandwidth_goes_before_the_machine),
        cmocka_unit_test(a_pipeline_sends_at_the_bandwidth_of_a_nic),
        cmocka_unit_test(missing_rows_are_those_read_last_in_compat_and_a_note_otherwise),
        cmocka_unit_test(compat_rounds_what_it_reads_to_32_bits),
        cmocka_unit_test(what_does_not_fit_the_machine_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
