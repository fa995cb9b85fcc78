/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.csv and calibration_all.csv in and out of the store: old headers, aliases, repetitions, bad lines. */
#include "tests/check.h"
#include "tests/folder.h"

#include <math.h>

#include "lab/store/command.h"
#include "lab/store/metrics_store.h"
#include "lab/store/read.h"

/* The columns of spec rocm §1.9, in their order. */
static const char calibration_header[] =
    "mode,tag,calib_id,world,logical_dims,topo_desc,qcn,pfc_dyn,buffer,payload,coll_opt,lmbw,alpha_us,alpha_comm_us,"
    "alpha_gpu_us,sim_cycles_step,sim_cycles_comm,sim_cycles_gpu,sim_t_step_ms,sim_t_comm_ms,ns3_comm_ms,"
    "ns3_rel_err_comm,real_t_step_ms,real_t_comm_ms,real_t_net_comm_ms,real_t_kernel_ms,run_dir,rel_err_step,"
    "rel_err_comm,sim_t_comm_ms_comm,rel_err_comm_comm,flags\n";

static const char metrics_header[] =
    "mode,tag,calib_id,world,logical_dims,topo_desc,qcn,pfc_dyn,buffer,payload,coll_opt,lmbw,alpha_us,alpha_comm_us,"
    "alpha_gpu_us,sim_cycles_step,sim_cycles_comm,sim_cycles_gpu,sim_t_step_ms,sim_t_comm_ms,sim_t_comm_ms_comm,"
    "ns3_comm_ms,ns3_rel_err_comm,real_t_step_ms,real_t_comm_ms,real_t_net_comm_ms,real_t_kernel_ms,run_dir,"
    "rel_err_step,rel_err_comm,rel_err_comm_comm,flags\n";

static const char old_header[] =
    "mode,tag,calib_id,world,logical_dims,topo_desc,qcn,pfc_dyn,buffer,payload,coll_opt,lmbw,alpha_us,sim_cycles_step,"
    "sim_cycles_comm,sim_t_step_ms,sim_t_comm_ms,real_t_step_ms,real_t_comm_ms,run_dir,rel_err_step,rel_err_comm,"
    "flags\n";

/* The first calibration of spec rocm §2.2, in the columns its time had. */
static const char old_row[] = "calibrate,,1,2,2,auto1d_2,,,,,localBWAware,1600,5.093838,30514432,30514432,155435.56,"
                              "155435.56,155435.56,1488953.26,runs/first,0.000000,0.895607,comm_equals_wall\n";
static const char old_row_today[] =
    "calibrate,,1,2,2,auto1d_2,,,,,localBWAware,1600,5.093838,,,30514432,30514432,,155435.56,155435.56,,,155435.56,"
    "1488953.26,,,runs/first,0.000000,0.895607,,,comm_equals_wall\n";

static struct orr_error err;
static char last_warning[512];
static unsigned warnings;

static void warn(void *context, const char *line)
{
    (void)context;
    warnings++;
    (void)snprintf(last_warning, sizeof last_warning, "%s", line);
}

static void write_file(const char *name, const char *header, const char *rows)
{
    FILE *file = fopen(folder_path(name), "w");
    CHECK(file != NULL && fputs(header, file) >= 0 && fputs(rows, file) >= 0 && fclose(file) == 0, "%s", name);
}

static struct orr_store_imported import(const char *store, const char *file)
{
    struct orr_store_imported imported = {0};
    const struct orr_notices notices = {.warn = warn};
    warnings = 0;
    CHECK_OK(orr_store_import(folder_path(store), folder_path(file), &notices, &imported, &err), &err);
    return imported;
}

static const char *export(const char *store, enum orr_store_table table)
{
    static char text[1 << 16];
    uint64_t rows = 0;
    FILE *stream = fmemopen(text, sizeof text, "w");
    CHECK(stream != NULL, "memory");
    CHECK_OK(orr_store_export(folder_path(store), table, NULL, stream, &rows, &err), &err);
    CHECK(fclose(stream) == 0, "written");
    return text;
}

static void expect(const char *got, const char *header, const char *rows)
{
    size_t length = strlen(header);
    CHECK(strncmp(got, header, length) == 0, "header: %s", got);
    CHECK_TEXT(got + length, rows);
}

static void a_row_of_the_oldest_header_comes_out_under_todays(void **state)
{
    (void)state;
    write_file("old.csv", old_header, old_row);
    struct orr_store_imported imported = import("old.db", "old.csv");
    CHECK_U64(imported.runs, 1, "runs");
    CHECK_U64(imported.calibrations, 1, "calibrations");
    CHECK_U64(warnings, 0, "nothing to warn of");
    expect(export("old.db", ORR_STORE_CALIBRATIONS), calibration_header, old_row_today);
}

static void a_row_without_an_alpha_is_a_run_and_no_calibration(void **state)
{
    (void)state;
    write_file("plain.csv", "world,sim_cycles_step\n", "8,1000\n");
    struct orr_store_imported imported = import("plain.db", "plain.csv");
    CHECK_U64(imported.runs, 1, "runs");
    CHECK_U64(imported.calibrations, 0, "calibrations");
    expect(export("plain.db", ORR_STORE_CALIBRATIONS), calibration_header, "");
    expect(export("plain.db", ORR_STORE_METRICS), metrics_header, ",,,8,,,,,,,,,,,,1000,,,,,,,,,,,,,,,,\n");
}

static void the_documents_names_of_columns_mean_the_same(void **state)
{
    (void)state;
    write_file("alias.csv", "tag,world,sim_wall_cycles,sim_comm_cycles,real_t_step_ms\n", "cnn,2,500,400,1.5\n");
    CHECK_U64(import("alias.db", "alias.csv").runs, 1, "runs");
    expect(export("alias.db", ORR_STORE_METRICS), metrics_header, ",cnn,,2,,,,,,,,,,,,500,400,,,,,,,1.5,,,,,,,,\n");
}

static void what_was_exported_and_imported_comes_out_the_same(void **state)
{
    (void)state;
    static const char rows[] = "calibrate,\"res,net \"\"50\"\"\",7,2,2,auto1d_2,1,0,32,1000,localBWAware,540,0.002411,"
                               "0.000501,0.000515,274982000,15060000,274982000,662.92,36.31,15.06,0.997347,662.92,7.54,"
                               "7.54,141.70,runs/x,0.000000,3.815650,7.54,0.000000,\n";
    write_file("whole.csv", calibration_header, rows);
    CHECK_U64(import("whole.db", "whole.csv").calibrations, 1, "entered");
    write_file("again.csv", export("whole.db", ORR_STORE_CALIBRATIONS), "");
    CHECK_U64(import("again.db", "again.csv").calibrations, 1, "entered");
    expect(export("again.db", ORR_STORE_CALIBRATIONS), calibration_header, rows);
    write_file("metrics.csv", export("whole.db", ORR_STORE_METRICS), "");
    CHECK_U64(import("again.db", "metrics.csv").known, 1, "the same row in metrics.csv's order");
}

static void a_row_is_entered_once_and_the_tag_makes_another(void **state)
{
    (void)state;
    static const char header[] = "tag,world,topo_desc,sim_cycles_step,alpha_us\n";
    write_file("same.csv", header, "a,2,auto1d_2,1000000,0.5\na,2,auto1d_2,1000050,0.5\n");
    struct orr_store_imported imported = import("same.db", "same.csv");
    CHECK_U64(imported.runs, 1, "within one part in ten thousand it is the same row");
    CHECK_U64(imported.known, 1, "known");
    CHECK_U64(import("same.db", "same.csv").known, 2, "again");
    write_file("other.csv", header, "b,2,auto1d_2,1000000,0.5\na,2,auto1d_2,1001000,0.5\na,4,auto1d_2,1000000,0.5\n");
    CHECK_U64(import("same.db", "other.csv").runs, 3, "another tag, another number, another world");
}

static const struct {
    const char *row, *warning;
} bad_rows[] = {
    {"a,2,x,0.5\n", "bad.csv:2:5: sim_cycles_step: \"x\" is not a number"},
    {"a,2,1.5,0.5\n", "bad.csv:2:5: sim_cycles_step: \"1.5\" is not a whole number"},
    {"a,-2,1,0.5\n", "bad.csv:2:3: world: \"-2\" is negative"},
    {"a,2,1e300,0.5\n", "is not a whole number below 2^63"},
    {"a,9999999999,1,0.5\n", "world: \"9999999999\" is too many ranks"},
    {"a,2,,\n", "bad.csv:2: neither sim_cycles_step nor alpha_us has a value"},
    {"a,2,None,nan\n", "bad.csv:2: neither sim_cycles_step nor alpha_us has a value"},
};

static void a_bad_row_is_named_and_left_out(void **state)
{
    (void)state;
    static const char header[] = "tag,world,sim_cycles_step,alpha_us\n";
    for (size_t i = 0; i < COUNT_OF(bad_rows); i++) {
        char rows[128];
        char store[32];
        (void)snprintf(rows, sizeof rows, "%sgood,2,1000,0.5\n", bad_rows[i].row);
        (void)snprintf(store, sizeof store, "bad%zu.db", i);
        write_file("bad.csv", header, rows);
        struct orr_store_imported imported = import(store, "bad.csv");
        CHECK_U64(imported.bad, 1, "%s", rows);
        CHECK_U64(imported.runs, 1, "the other one is entered: %s", rows);
        CHECK_CONTAINS(last_warning, bad_rows[i].warning);
        const struct orr_notices strict = {.strict = true};
        CHECK_STATUS(orr_store_import(folder_path("strict.db"), folder_path("bad.csv"), &strict, &imported, &err),
                     ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad_rows[i].warning);
    }
    struct lab_store *none = NULL;
    CHECK_STATUS(lab_store_open(folder_path("strict.db"), IO_DATABASE_READ, &none, &err), ORR_EIO);
}

static const struct {
    const char *header, *rows, *error;
} bad_files[] = {
    {"a,b,c\n", "1,2,3\n", "no metrics.csv or calibration_all.csv"},
    {"world,sim_cycles_step,sim_wall_cycles\n", "1,2,3\n", "is there twice"},
    {"world,sim_cycles_step\n", "1,2\n1,2,3\n", ":3:"},
    {"world,sim_cycles_step\n", "1,\"2\n", "never closed"},
    {"", "", "file.csv"},
};

static void a_file_that_is_no_such_table_enters_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_files); i++) {
        struct orr_store_imported imported = {0};
        write_file("file.csv", bad_files[i].header, bad_files[i].rows);
        CHECK_STATUS(orr_store_import(folder_path("file.db"), folder_path("file.csv"), NULL, &imported, &err),
                     ORR_EINVAL);
        CHECK_CONTAINS(err.text, bad_files[i].error);
        struct lab_store *none = NULL;
        CHECK_STATUS(lab_store_open(folder_path("file.db"), IO_DATABASE_READ, &none, &err), ORR_EIO);
    }
}

static void an_unknown_column_is_named_and_kept(void **state)
{
    (void)state;
    write_file("extra.csv", "world,sim_cycles_step,sim_cycels_comm,sample_count,IQR,accepted_flag,alpha_us\n",
               "2,1000,7,5,0.01,1,0.5\n");
    CHECK_U64(import("extra.db", "extra.csv").runs, 1, "entered");
    CHECK_U64(warnings, 1, "one column");
    CHECK_CONTAINS(last_warning, "column \"sim_cycels_comm\" is not known, perhaps \"sim_cycles_comm\" is meant");
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_store_show(folder_path("extra.db"), 0, ORR_STORE_TEXT, stream, &err), &err);
    CHECK(fclose(stream) == 0, "written");
    CHECK_CONTAINS(text, "sim_cycels_comm  7");
    CHECK_CONTAINS(text, "1  accepted, alpha 0.500000 us");
    free(text);
}

/* A run of two steps and its calibration: what is exported is of one step, and errors are real ones. */
static void our_own_rows_are_of_one_step(void **state)
{
    (void)state;
    struct lab_store *store = NULL;
    int64_t run = 0;
    int64_t id = 0;
    const struct lab_manifest manifest = {.kind = "lab",
                                          .tag = "resnet50",
                                          .folder = "/home/user",
                                          .fingerprint = "00112233445566778899aabbccddeeff",
                                          .topology = "2gpu_auto1d_2",
                                          .logical_dims = "2",
                                          .world = 2,
                                          .source_world = 2};
    const struct lab_results results = {
        .state = LAB_RUN_DONE, .total_ns = 274982000, .steps = 2, .comm_ns = 30120000, .compute_ns = 270000000};
    const struct lab_calibration calibration = {.run = 1,
                                                .alpha_us = 0.004821552,
                                                .alpha_comm_us = 0.000500664,
                                                .alpha_gpu_us = (double)NAN,
                                                .real_step_ms = 662.92,
                                                .real_comm_ms = 7.54,
                                                .real_kernel_ms = 141.70,
                                                .sim_step_ms = (double)NAN,
                                                .sim_comm_ms = (double)NAN,
                                                .sim_gpu_ms = (double)NAN,
                                                .lower_bound_ms = 11.58,
                                                .iqr = (double)NAN,
                                                .world = 2};
    CHECK_OK(lab_store_open(folder_path("own.db"), IO_DATABASE_WRITE, &store, &err), &err);
    CHECK_OK(lab_store_begin(store, &manifest, &run, &err), &err);
    CHECK_OK(lab_store_finish(store, run, &results, &err), &err);
    expect(export("own.db", ORR_STORE_METRICS), metrics_header,
           "simulate,resnet50,00112233445566778899aabbccddeeff,2,2,2gpu_auto1d_2,,,,,,,,,,137491000,15060000,135000000,"
           "137.491000,15.060000,,15.060000,,,,,,/home/user,,,,\n");
    CHECK_OK(lab_store_calibrate(store, &calibration, &id, &err), &err);
    lab_store_close(store);
    expect(export("own.db", ORR_STORE_CALIBRATIONS), calibration_header,
           "calibrate,resnet50,00112233445566778899aabbccddeeff,2,2,2gpu_auto1d_2,,,,,,,0.004821552,0.000500664,,"
           "137491000,15060000,135000000,137.491000,15.060000,15.060000,0.997347,662.920000,7.540000,7.540000,"
           "141.700000,/home/user,0.792598,0.997347,7.540000,0.000000,\n");
    write_file("own.csv", export("own.db", ORR_STORE_METRICS), "");
    CHECK_U64(import("own.db", "own.csv").known, 1, "our own row coming back is known");
}

static const struct {
    const char *line;
    const char *words[5];
} lines[] = {
    {"orrery lab run", {"orrery", "lab", "run"}},
    {"  a\t b  ", {"a", "b"}},
    {"a 'b c' d", {"a", "b c", "d"}},
    {"a 'it'\\''s' \"x \\\" y\" ''", {"a", "it's", "x \" y", ""}},
    {"a\\ b c\\\\", {"a b", "c\\"}},
    {"x'y'\"z\"", {"xyz"}},
};

static void a_command_is_split_as_a_shell_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        char **words = NULL;
        CHECK_OK(store_command_split(lines[i].line, &words, &err), &err);
        size_t k = 0;
        for (; lines[i].words[k] != NULL; k++) {
            CHECK(words[k] != NULL, "%s", lines[i].line);
            CHECK_TEXT(words[k], lines[i].words[k]);
        }
        CHECK(words[k] == NULL, "%s: more words", lines[i].line);
        free(words[0]);
        free((void *)words);
    }
}

static void what_only_a_shell_understands_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"orrery; rm x", "orrery $HOME", "orrery `x`", "orrery > f", "orrery \"$x\"",
                                      "orrery 'x",    "orrery \"x",   "a\nb",       "",           "  "};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char **words = NULL;
        CHECK_STATUS(store_command_split(bad[i], &words, &err), ORR_EINVAL);
        CHECK(words == NULL, "nothing is given: %s", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_of_the_oldest_header_comes_out_under_todays),
        cmocka_unit_test(a_row_without_an_alpha_is_a_run_and_no_calibration),
        cmocka_unit_test(the_documents_names_of_columns_mean_the_same),
        cmocka_unit_test(what_was_exported_and_imported_comes_out_the_same),
        cmocka_unit_test(a_row_is_entered_once_and_the_tag_makes_another),
        cmocka_unit_test(a_bad_row_is_named_and_left_out),
        cmocka_unit_test(a_file_that_is_no_such_table_enters_nothing),
        cmocka_unit_test(an_unknown_column_is_named_and_kept),
        cmocka_unit_test(our_own_rows_are_of_one_step),
        cmocka_unit_test(a_command_is_split_as_a_shell_does),
        cmocka_unit_test(what_only_a_shell_understands_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
