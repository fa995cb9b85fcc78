/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of measurements take from each form, from files written here in the tools' own layout. */
#include <math.h>

#include "calib/network.h"
#include "coll/impl.h"
#include "tests/check.h"
#include "tests/folder.h"

struct reading {
    struct mem mem;
    struct notes notes;
    struct calib_points points;
    struct calib_read_result result;
    struct orr_error err;
    char path[128];
};

static enum orr_status read_as(struct reading *reading, const char *name, const char *text,
                               struct calib_read_options options)
{
    *reading = (struct reading){0};
    notes_init(&reading->notes, &reading->mem, false);
    snprintf(reading->path, sizeof reading->path, "%s/%s", folder, name);
    FILE *stream = fopen(reading->path, "wb");
    CHECK(stream != NULL && fwrite(text, 1, strlen(text), stream) == strlen(text) && fclose(stream) == 0, "written");
    return calib_read(reading->path, &options, &reading->mem, &reading->notes, &reading->points, &reading->result,
                      &reading->err);
}

static void reading_end(struct reading *reading)
{
    calib_points_free(&reading->points, &reading->mem);
    notes_free(&reading->notes);
    CHECK_U64(reading->mem.used, 0, "everything is given back");
}

static void check_point(const struct reading *reading, uint32_t at, int32_t type, uint32_t ranks, uint64_t bytes,
                        double time_us, bool in_place)
{
    const struct calib_point *point = &reading->points.items[at];
    CHECK(at < reading->points.count, "there are %u points only", reading->points.count);
    CHECK_U64(point->type, type, "type of point %u", at);
    CHECK_U64(point->ranks, ranks, "ranks of point %u", at);
    CHECK_U64(point->bytes, bytes, "bytes of point %u", at);
    CHECK(fabs(point->time_us - time_us) < 1e-9 * time_us, "point %u took %.9g us", at, point->time_us);
    CHECK_U64(point->in_place, in_place, "place of point %u", at);
}

static bool noted(const struct reading *reading, const char *part)
{
    for (uint32_t i = 0; i < reading->notes.count; i++) {
        if (strstr(reading->notes.lines[i], part) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- nccl-tests and rccl-tests ---- */

#define HEAD                                                                                                           \
    "#                                                              out-of-place                       in-place\n"     \
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "   \
    "#wrong\n"                                                                                                         \
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"

#define FOUR_RANKS                                                                                                     \
    "#  Rank  0 Group  0 Pid    100 on       gpua device  0 [0x05] Some GPU\n"                                         \
    "#  Rank  1 Group  0 Pid    100 on       gpua device  1 [0x06] Some GPU\n"                                         \
    "#  Rank  2 Group  0 Pid    100 on       gpua device  2 [0x07] Some GPU\n"                                         \
    "#  Rank  3 Group  0 Pid    100 on       gpua device  3 [0x08] Some GPU\n"

static const char two_tables[] =
    "$ ./build/all_reduce_perf -b 8 -e 1M -f 2 -g 4\n"
    "# nThread 1 nGpus 4 minBytes 8 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20\n"
    "#\n# Using devices\n" FOUR_RANKS "#\n" HEAD "           8             2     float     sum      -1    12.90    "
    "0.00    0.00      0    12.87    0.00    0.00      "
    "0\n"
    "     1048576        262144     float     sum      -1    52.43   20.00   30.00      0    52.00   20.16   30.25    "
    "N/A\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 15.1\n#\n"
    "$ ./build/all_gather_perf -g 2\n# Using devices\n"
    "#  Rank  0 Pid    101 on       gpua device  0 [0x05] Some GPU\n"
    "#  Rank  1 Pid    101 on       gpua device  1 [0x06] Some GPU\n" HEAD
    "           0             0     float    none      -1     0.11    0.00    0.00      0     0.11    0.00    0.00     "
    " "
    "0\n"
    "     1048576        131072     float    none      -1    104.9   10.00    5.00      3    105.0    9.99    4.99     "
    " "
    "0\n"
    "     2097152        262144     float    none      -1    209.8   10.00\n"
    "# Avg bus bandwidth    : 5.0\n";

static void tables_of_the_tests_are_read_with_what_their_headings_say(void **state)
{
    (void)state;
    struct reading reading;
    CHECK_OK(read_as(&reading, "tests.txt", two_tables, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
    CHECK_U64(reading.result.form, CALIB_FORM_TESTS, "told by the content");
    CHECK_U64(reading.points.count, 5, "four of the first table, one of the second");
    check_point(&reading, 0, COLL_ALL_REDUCE, 4, 8, 12.90, false);
    check_point(&reading, 1, COLL_ALL_REDUCE, 4, 8, 12.87, true);
    check_point(&reading, 3, COLL_ALL_REDUCE, 4, 1048576, 52.00, true);
    check_point(&reading, 4, COLL_ALL_GATHER, 2, 1048576, 105.0, true);
    CHECK_U64(reading.result.left_out, 4, "two empty, one wrong, one cut off");
    CHECK(noted(&reading, "tests.txt:26: 1 measurement with wrong results left out"), "%s", reading.notes.lines[0]);
    CHECK(noted(&reading, "2 measurements of size or time 0 left out"), "counted");
    CHECK(noted(&reading, "tests.txt:27: 1 measurement with other columns than the heading left out"), "counted");
    reading_end(&reading);
}

static void labels_of_launchers_and_their_chatter_are_passed_over(void **state)
{
    (void)state;
    static const char text[] = "WARNING: There are more than one active ports on host 'x'\n"
                               "[1,0]<stdout>:# Collective test starting: reduce_scatter_perf\n"
                               "[1,0]<stdout>:#   Rank  0 Pid  1 on gpu9 device  0 [0x3d] G\n"
                               "[1,0]<stdout>:#   Rank  1 Pid  2 on gpu9 device  1 [0x3e] G\n"
                               "[1,0]<stdout>:#       size         count      type   redop     time   algbw   busbw  "
                               "error     time   algbw   busbw  error\n"
                               "[1,0]<stdout>:#        (B)    (elements)                       (us)  (GB/s)  (GB/s)\n"
                               "gpu9: NCCL WARN something\n"
                               "[1,0]<stdout>:        2048           512     float     sum    40.17    0.05    0.03  "
                               "1e-07    62.08    0.03    0.02  0e+00\n";
    struct reading reading;
    CHECK_OK(read_as(&reading, "mpi.log", text, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
    check_point(&reading, 0, COLL_REDUCE_SCATTER, 2, 2048, 40.17, false);
    check_point(&reading, 1, COLL_REDUCE_SCATTER, 2, 2048, 62.08, true);
    reading_end(&reading);
    CHECK_OK(read_as(&reading, "srun.log",
                     "0: # all_gather_perf\n0: # size count time algbw busbw\n"
                     "0:  1048576 262144 10.0 104.86 78.64\n",
                     CALIB_READ_OPTIONS_DEFAULT),
             &reading.err);
    check_point(&reading, 0, COLL_ALL_GATHER, 4, 1048576, 10.0, false);
    CHECK(noted(&reading, "4 ranks, worked out from the bus bandwidth"), "and it says so");
    reading_end(&reading);
}

static void ranks_of_another_group_do_not_count(void **state)
{
    (void)state;
    static const char text[] =
        "# all_reduce_perf\n"
        "#  Rank  0 Group  0 Pid 1\n#  Rank  1 Group  0 Pid 1\n"
        "#  Rank  2 Group  1 Pid 1\n#  Rank  3 Group  1 Pid 1\n"
        "#  Rank  0 Group  0 Pid 9\n" HEAD "  8 2 float sum -1 12.90 0.00 0.00 0 12.87 0.00 0.00 0\n";
    struct reading reading;
    CHECK_OK(read_as(&reading, "split.log", text, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
    check_point(&reading, 0, COLL_ALL_REDUCE, 2, 8, 12.90, false);
    reading_end(&reading);
}

static const struct {
    const char *row;
    const char *name;
    int32_t type;
    uint32_t ranks;
} worked_out[] = {
    {"1073741824 268435456 float sum -1 8244.5 130.24 227.92 0 8243 130.26 227.95 0", "a.log", COLL_ALL_REDUCE, 8},
    {"1073741824 268435456 float sum -1 8244.5 130.24 130.24 0 8243 130.26 130.26 0", "a.log", COLL_ALL_REDUCE, 2},
    {"1073741824 268435456 float sum -1 8244.5 130.24 113.96 0 8243 130.26 113.98 0", "a.log", COLL_REDUCE_SCATTER, 8},
    {"1073741824 268435456 float none -1 8244.5 130.24 113.96 0 8243 130.26 113.98 0", "my_all_gather.log",
     COLL_ALL_GATHER, 8},
    {"1073741824 268435456 float none -1 8244.5 130.24 122.10 0 8243 130.26 122.12 0", "alltoall-1.log",
     COLL_ALL_TO_ALL, 16},
};

static void what_the_file_does_not_say_is_worked_out_and_noted(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(worked_out); i++) {
        struct reading reading;
        CHECK_OK(read_as(&reading, worked_out[i].name, worked_out[i].row, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
        check_point(&reading, 0, worked_out[i].type, worked_out[i].ranks, 1073741824, 8244.5, false);
        CHECK(noted(&reading, "taken for measurements of"), "case %zu", i);
        CHECK(noted(&reading, "worked out from the bus bandwidth"), "case %zu", i);
        reading_end(&reading);
    }
}

static void what_cannot_be_worked_out_is_asked_for(void **state)
{
    (void)state;
    static const char gathers[] = "1073741824 268435456 float none -1 8244.5 130.24 113.96 0 8243 130.26 113.98 0";
    static const char small[] = "# all_reduce_perf\n 8 2 float sum -1 12.90 0.00 0.00 0 12.87 0.00 0.00 0\n";
    struct reading reading;
    CHECK_STATUS(read_as(&reading, "x.log", gathers, CALIB_READ_OPTIONS_DEFAULT), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "x.log:1: which collective was measured is not in the file");
    reading_end(&reading);
    CHECK_STATUS(read_as(&reading, "x.log", small, CALIB_READ_OPTIONS_DEFAULT), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "x.log:2: on how many ranks is not in the file");
    reading_end(&reading);
    struct calib_read_options options = {CALIB_FORM_AUTO, COLL_ALL_TO_ALL, 8};
    CHECK_OK(read_as(&reading, "x.log", gathers, options), &reading.err);
    check_point(&reading, 0, COLL_ALL_TO_ALL, 8, 1073741824, 8244.5, false);
    reading_end(&reading);
    options = (struct calib_read_options){CALIB_FORM_AUTO, CALIB_TYPE_UNKNOWN, 3};
    CHECK_OK(read_as(&reading, "x.log", worked_out[0].row, options), &reading.err);
    CHECK_U64(reading.points.items[0].ranks, 3, "the option wins");
    CHECK(noted(&reading, "3 ranks, but the bus bandwidth of an all-reduce printed there is that of 8"), "with a note");
    reading_end(&reading);
    options = (struct calib_read_options){CALIB_FORM_AUTO, COLL_ALL_GATHER, 0};
    CHECK_OK(read_as(&reading, "tests.txt", two_tables, options), &reading.err);
    CHECK_U64(reading.points.items[0].type, COLL_ALL_GATHER, "the option wins");
    CHECK(noted(&reading, "tests.txt:13: taken for all-gather, though the file says all-reduce"), "with a note");
    reading_end(&reading);
    options = (struct calib_read_options){CALIB_FORM_AUTO, CALIB_TYPE_UNKNOWN, 1};
    CHECK_STATUS(read_as(&reading, "x.log", worked_out[0].row, options), ORR_EINVAL);
    reading_end(&reading);
    CHECK_STATUS(read_as(&reading, "x.log", "# sendrecv_perf\n 8 2 float sum -1 12.90 0 0 0 12.87 0 0 0\n", options),
                 ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "not one measurement");
    reading_end(&reading);
}

/* ---- rocm-bandwidth-test ---- */

static const char matrices[] = "          RocmBandwidthTest Version: 2.6.0\n\n"
                               "          Device: 0,  A processor\n"
                               "          Device: 1,  A GPU,  GPU-1,  03:0.0\n"
                               "          Device: 2,  A GPU,  GPU-2,  05:0.0\n\n"
                               "          Inter-Device Access\n\n          D/D       0         1         2\n"
                               "          0         1         1         1\n          1         1         1         1\n"
                               "          Unidirectional copy peak bandwidth GB/s\n\n"
                               "          D/D       0           1           2\n\n"
                               "          0         N/A         13.100      13.200\n\n"
                               "          1         13.300      540.849     14.045\n\n"
                               "          2         13.400      14.046      540.064\n\n"
                               "          Bidirectional copy peak bandwidth GB/s\n\n"
                               "          D/D       0           1           2\n\n"
                               "          0         N/A         25.1        25.2\n\n"
                               "          1         25.1        N/A         27.9\n\n"
                               "          2         25.2        27.9        N/A\n";

static void matrices_of_copies_give_memory_peers_and_host(void **state)
{
    (void)state;
    struct reading reading;
    struct arena arena;
    struct calib_network network;
    CHECK_OK(read_as(&reading, "rbt.txt", matrices, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
    CHECK_U64(reading.result.form, CALIB_FORM_BANDWIDTH, "told by the content");
    CHECK_U64(reading.result.copies, 14, "8 one way, 6 both ways");
    arena_init(&arena, &reading.mem);
    struct calib_network_options options = {0};
    CHECK_OK(calib_network_fit(&reading.points, &options, &arena, &reading.notes, &network, &reading.err),
             &reading.err);
    CHECK(fabs(network.memory_gbytes_per_s.value - 540.4565) < 1e-9, "%g", network.memory_gbytes_per_s.value);
    CHECK(fabs(network.peer_gbytes_per_s.value - 14.0455) < 1e-9, "%g", network.peer_gbytes_per_s.value);
    CHECK(fabs(network.host_gbytes_per_s.value - 13.25) < 1e-9, "%g", network.host_gbytes_per_s.value);
    CHECK_U64(network.host_gbytes_per_s.sources, 4, "the processor has no rate to itself");
    arena_free(&arena);
    reading_end(&reading);
}

/* ---- tables ---- */

static const struct {
    const char *text;
    int32_t type;
    uint32_t ranks;
    uint64_t bytes;
    double time_us;
    enum calib_form form;
} tables[] = {
    {"# n_ranks=8 ; x\nsize_bytes,time_us\n8,20.26\n", COLL_ALL_REDUCE, 8, 8, 20.26, CALIB_FORM_CSV},
    {"# all_gather_perf, ranks: 4\nSize (KiB);Latency [ms]\r\n2;0.5\r\n", COLL_ALL_GATHER, 4, 2048, 500,
     CALIB_FORM_CSV},
    {"collective\tranks\tmessage size\tavg time\nbroadcast\t6\t1.5 MB\t2 ms\n", COLL_BROADCAST, 6, 1500000, 2000,
     CALIB_FORM_CSV},
    {"#size,time,ranks\n\"1GiB\",\"1 s\",2\n", COLL_ALL_REDUCE, 2, 1073741824, 1e6, CALIB_FORM_CSV},
    {"world_size,bytes,ns\n16,64,1500\n", COLL_ALL_REDUCE, 16, 64, 1.5, CALIB_FORM_CSV},
    {"size(B),count,type,time(ns),busbw(GB/s),time(ns),busbw(GB/s)\n1048576,262144,float,51400,30.60,52740,29.82\n",
     COLL_ALL_REDUCE, 4, 1048576, 51.4, CALIB_FORM_CSV},
    {"collective: reduce_scatter\nranks: 8\npoints:\n  - {size: 1MiB, time: 37.5us}\n", COLL_REDUCE_SCATTER, 8, 1048576,
     37.5, CALIB_FORM_YAML},
    {"collective: alltoall\nranks: 8\ncolumns: [size_bytes, time_ms]\nrows: [[4096, 0.02], [8192, 0.03]]\n",
     COLL_ALL_TO_ALL, 8, 4096, 20, CALIB_FORM_YAML},
    {"ranks: 2\nsize_kib: [1, 2, 4]\ntime_us: [10, 11, 12]\n", COLL_ALL_REDUCE, 2, 1024, 10, CALIB_FORM_YAML},
    {"- size: 8B\n  time: 9us\n  ranks: 2\n  collective: all-gather\n", COLL_ALL_GATHER, 2, 8, 9, CALIB_FORM_YAML},
    {"{\"collective\": \"AllReduce\", \"ranks\": 2,\n \"data\": [{\"bytes\": 8, \"time_us\": 25}]}", COLL_ALL_REDUCE, 2,
     8, 25, CALIB_FORM_YAML},
    {"- collective: reduce\n  ranks: 4\n  points: [{bytes: 8, us: 3}]\n", COLL_REDUCE, 4, 8, 3, CALIB_FORM_YAML},
};

static void tables_are_read_with_units_in_the_heading_or_the_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct reading reading;
        enum orr_status status = read_as(&reading, "my_allreduce.tab", tables[i].text, CALIB_READ_OPTIONS_DEFAULT);
        CHECK(status == ORR_OK, "case %zu: %s", i, reading.err.text);
        CHECK_U64(reading.result.form, tables[i].form, "case %zu", i);
        check_point(&reading, 0, tables[i].type, tables[i].ranks, tables[i].bytes, tables[i].time_us, false);
        reading_end(&reading);
    }
}

static void a_second_column_of_times_is_in_place(void **state)
{
    (void)state;
    struct reading reading;
    CHECK_OK(read_as(&reading, "allreduce.csv", tables[5].text, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
    CHECK_U64(reading.points.count, 2, "both");
    check_point(&reading, 1, COLL_ALL_REDUCE, 4, 1048576, 52.74, true);
    reading_end(&reading);
    CHECK_OK(read_as(&reading, "allreduce.csv", "ranks,size,in_place_time_us,out_of_place_time_us\n2,8,10,11\n",
                     CALIB_READ_OPTIONS_DEFAULT),
             &reading.err);
    check_point(&reading, 0, COLL_ALL_REDUCE, 2, 8, 10, true);
    reading_end(&reading);
}

static void tables_one_after_the_other_keep_their_own_ranks(void **state)
{
    (void)state;
    struct reading reading;
    CHECK_OK(read_as(&reading, "allreduce.csv",
                     "# n_ranks=8\nsize_bytes,time_us\n8,20\n# n_ranks=16\ntime_ms,size_kb\n1,7\n",
                     CALIB_READ_OPTIONS_DEFAULT),
             &reading.err);
    check_point(&reading, 0, COLL_ALL_REDUCE, 8, 8, 20, false);
    check_point(&reading, 1, COLL_ALL_REDUCE, 16, 7000, 1000, false);
    reading_end(&reading);
}

/* ---- device traces ---- */

#define KERNEL(name, args)                                                                                             \
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"ts\": 100, \"dur\": 40.5, \"args\": {" args "}}"

static const char trace[] =
    "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": "
    "4},\n\"traceEvents\": [" KERNEL(
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
        "\"Collective name\": \"allreduce\", \"In msg nelems\": 1024, \"Out msg nelems\": 1024, \"dtype\": \"Float\", "
        "\"Group size\": 4, \"stream\": 7") ",\n" KERNEL("ncclDevKernel_Generic_4(x)",
                                                         "\"Collective name\": "
                                                         "\"_allgather_base\", \"In msg "
                                                         "nelems\": 256, \"Out msg "
                                                         "nelems\": 512, \"dtype\": "
                                                         "\"BFloat16\", "
                                                         "\"Group size\": 2, \"stream\": "
                                                         "7") ",\n" KERNEL("ncclDevKernel"
                                                                           "_SendRecv(x)",
                                                                           "\"stream\": "
                                                                           "7") ","
                                                                                "\n" KERNEL(
                                                                                    "a_gemm",
                                                                                    "\"stream\": 7") ",\n"
                                                                                                     "{\"ph\": \"X\", "
                                                                                                     "\"cat\": "
                                                                                                     "\"user_"
                                                                                                     "annotation\", "
                                                                                                     "\"name\": "
                                                                                                     "\"nccl:all_"
                                                                                                     "reduce\", "
                                                                                                     "\"ts\": 90, "
                                                                                                     "\"dur\": 5, "
                                                                                                     "\"args\": "
                                                                                                     "{\"Input Dims\": "
                                                                                                     "[[1024]], "
                                                                                                     "\"Input type\": "
                                                                                                     "[\"float\"]}},\n"
                                                                                                     "{\"ph\": \"X\", "
                                                                                                     "\"cat\": "
                                                                                                     "\"user_"
                                                                                                     "annotation\", "
                                                                                                     "\"name\": "
                                                                                                     "\"gloo:all_"
                                                                                                     "reduce\", "
                                                                                                     "\"ts\": 300, "
                                                                                                     "\"dur\": 1200, "
                                                                                                     "\"args\": "
                                                                                                     "{\"Input Dims\": "
                                                                                                     "[[1000]], "
                                                                                                     "\"Input type\": "
                                                                                                     "[\"float\"]}}]}";

static void a_device_trace_gives_its_own_collectives(void **state)
{
    (void)state;
    struct reading reading;
    CHECK_OK(read_as(&reading, "device_0.json", trace, CALIB_READ_OPTIONS_DEFAULT), &reading.err);
    CHECK_U64(reading.result.form, CALIB_FORM_TRACE, "told by the content");
    CHECK_U64(reading.points.count, 3, "two kernels, and the annotation of a library of the host");
    check_point(&reading, 0, COLL_ALL_REDUCE, 4, 4096, 40.5, true);
    check_point(&reading, 1, COLL_ALL_GATHER, 2, 1024, 40.5, true);
    check_point(&reading, 2, COLL_ALL_REDUCE, 4, 4000, 1200, true);
    CHECK_U64(reading.result.left_out, 1, "a send and receive");
    CHECK(noted(&reading, "left out 1 of the collectives"), "and it says so");
    reading_end(&reading);
    CHECK_STATUS(read_as(&reading, "device_0.json", "{\"traceEvents\": []}", CALIB_READ_OPTIONS_DEFAULT), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "a device trace without a collective");
    reading_end(&reading);
}

static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "no measurements"},
    {"hidden size,iteration time (ms)\n1024,5\n",
     ":1: \"hidden size,iteration time (ms)\" has not one column of sizes"},
    {"size_bytes,time\n8,20\n", ":2: the time \"20\" has no unit"},
    {"size_bytes,time_us\n8,fast\n", ":2: \"fast\" is no time"},
    {"size_bytes,time_us\n8 Gb,1\n", ":2: \"8 Gb\" is no size"},
    {"size_bytes,time_us\n8.5,1\n", ":2: \"8.5\" is no whole number of bytes"},
    {"size_bytes,time_us\n1e30,1\n", ":2: \"1e30\" is no whole number of bytes"},
    {"size_bytes,time_us\n-8,1\n", ":2: \"-8\" is no whole number of bytes"},
    {"size_bytes,time_us\n8,-1\n", ":2: \"-1\" is out of range for a time"},
    {"size_bytes,time_us,ranks\n8,1,1\n", ":2: \"1\" ranks; a whole number, at least 2"},
    {"size_bytes,time_us,collective\n8,1,allredoose\n", ":2: unknown collective \"allredoose\""},
    {"size_bytes,time_us\n8\n", "not one measurement"},
    {"collective: reduze\npoints: [{size: 8, time_us: 1}]\n",
     ":1: \"reduze\" where the name of a collective is needed"},
    {"ranks: 1\npoints: [{size: 8, time_us: 1}]\n", ":1: 1 where a number of ranks"},
    {"ranks: 2\npoints:\n- 5\n", ":3: 5 where a row"},
    {"ranks: 2\npoints:\n- {size: 8}\n", ":3: a map of 1 where a row with a size"},
    {"ranks: 2\npoints:\n- [8, 9]\n", ":3: a list of 2 where a map"},
    {"ranks: 2\nsize_b: [8, 9]\ntime_us: [1]\n", ":3: a list of 1 where a column as long as the others"},
    {"ranks: 2\nother: 5\n", "where a map with points"},
    {"Unidirectional copy peak bandwidth GB/s\nD/D 0 1\n0 N/A 5 6\n", ":3: a row of 3 rates in a matrix of 2 columns"},
    {"Unidirectional copy peak bandwidth GB/s\nD/D 0 1\n0 N/A fast\n", ":3: \"fast\" is no bandwidth"},
    {"Unidirectional copy peak bandwidth MB/s\nD/D 0 1\n", ":1: a matrix of bandwidths that are not in GB/s"},
    {"Unidirectional copy peak bandwidth GB/s\n", "not one measurement"},
};

static void a_wrong_file_is_refused_with_its_line_and_leaves_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct reading reading;
        enum orr_status status = read_as(&reading, "allreduce.bad", wrong[i].text, CALIB_READ_OPTIONS_DEFAULT);
        CHECK(status == ORR_EINVAL, "case %zu: \"%s\" is accepted", i, wrong[i].text);
        CHECK_CONTAINS(reading.err.text, wrong[i].message);
        CHECK_U64(reading.points.count + reading.points.copy_count, 0, "case %zu", i);
        reading_end(&reading);
    }
}

static void a_form_may_be_forced(void **state)
{
    (void)state;
    struct reading reading;
    struct orr_error err = {0};
    enum calib_form form = CALIB_FORM_AUTO;
    CHECK_OK(calib_form_parse("yaml", &form, &err), &err);
    CHECK_U64(form, CALIB_FORM_YAML, "by its word");
    CHECK_TEXT(calib_form_word(CALIB_FORM_TESTS), "tests");
    CHECK_STATUS(calib_form_parse("bandwith", &form, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "did you mean \"bandwidth\"?");
    struct calib_read_options options = {CALIB_FORM_YAML, COLL_ALL_REDUCE, 2};
    CHECK_STATUS(read_as(&reading, "x.csv", "size_bytes,time_us\n8,20\n", options), ORR_EINVAL);
    CHECK_CONTAINS(reading.err.text, "where a table is needed");
    reading_end(&reading);
    struct calib_read_result result;
    CHECK_STATUS(calib_read("nowhere.csv", &options, &reading.mem, &reading.notes, &reading.points, &result, &err),
                 ORR_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_the_tests_are_read_with_what_their_headings_say),
        cmocka_unit_test(labels_of_launchers_and_their_chatter_are_passed_over),
        cmocka_unit_test(ranks_of_another_group_do_not_count),
        cmocka_unit_test(what_the_file_does_not_say_is_worked_out_and_noted),
        cmocka_unit_test(what_cannot_be_worked_out_is_asked_for),
        cmocka_unit_test(matrices_of_copies_give_memory_peers_and_host),
        cmocka_unit_test(tables_are_read_with_units_in_the_heading_or_the_value),
        cmocka_unit_test(a_second_column_of_times_is_in_place),
        cmocka_unit_test(tables_one_after_the_other_keep_their_own_ranks),
        cmocka_unit_test(a_device_trace_gives_its_own_collectives),
        cmocka_unit_test(a_wrong_file_is_refused_with_its_line_and_leaves_nothing),
        cmocka_unit_test(a_form_may_be_forced),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
