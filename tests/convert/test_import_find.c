/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as people have them: of any name, in files and folders, packed or not. Which kind a file is, of which rank
 * and of which run, is told by its content, then by its name; what nothing tells apart is asked about. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/pytorch/import/import.h"
#include "convert/recording.h"
#include "io/outfile.h"
#include "tests/check.h"
#include "tests/folder.h"

enum { FILES_MOST = 6, TEXT_ROOM = 2048 };

static struct orr_error err;

/* 'd': a device trace, 'h': an execution trace, 'x': something else; -1: not said. */
struct file {
    const char *name;
    char kind;
    int rank, world, pid;
    const char *job;
};

static void write_text(const char *path, const char *text)
{
    struct io_outfile *file = NULL;
    CHECK_OK(io_outfile_open(path, io_outfile_form_of(path), &file, &err), &err);
    (void)fputs(text, io_outfile_stream(file));
    CHECK_OK(io_outfile_commit(file, &err), &err);
}

static void write_recording(const char *place, const struct file *file)
{
    char path[256];
    char info[128] = "";
    char job[64] = "";
    char text[1024];
    (void)snprintf(path, sizeof path, "%s/%s", place, file->name);
    if (file->rank >= 0) {
        (void)snprintf(info, sizeof info,
                       "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d},", file->rank,
                       file->world);
    }
    if (file->job != NULL) {
        (void)snprintf(job, sizeof job, "\"group_trace_id\": \"%s\",", file->job);
    }
    if (file->kind == 'd') {
        (void)snprintf(text, sizeof text,
                       "{\"schemaVersion\": 1, %s %s \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": "
                       "\"aten::mm\", \"pid\": %d, \"tid\": 1, \"ts\": 1, \"dur\": 2}]}",
                       info, job, file->pid);
    } else {
        (void)snprintf(text, sizeof text,
                       file->kind == 'h' ? "{\"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": %d, \"nodes\": []}"
                                         : "{\"learning_rate\": %d}",
                       file->pid);
    }
    write_text(path, text);
}

/* "tag[0:d/h 1:d]…" of all jobs, d and h the names of the files. */
static void describe(const struct import_job *jobs, uint32_t count, char text[TEXT_ROOM])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, TEXT_ROOM - used, "%s%s[", i > 0 ? " " : "", jobs[i].tag);
        for (uint32_t p = 0; p < jobs[i].pair_count; p++) {
            const struct import_pair *pair = &jobs[i].pairs[p];
            used +=
                (size_t)snprintf(text + used, TEXT_ROOM - used, "%s%u:%s%s%s", p > 0 ? " " : "", pair->rank,
                                 pair->device == NULL ? "" : strrchr(pair->device, '/') + 1,
                                 pair->host == NULL ? "" : "+", pair->host == NULL ? "" : strrchr(pair->host, '/') + 1);
        }
        used += (size_t)snprintf(text + used, TEXT_ROOM - used, "]");
    }
}

static const struct {
    struct file files[FILES_MOST];
    const char *want;  /* what is found; NULL: refused, */
    const char *error; /* with this */
} rows[] = {
    {{{"worker0_run.pt.trace.json", 'd', 0, 2, 7, NULL}, {"worker1_run.pt.trace.json", 'd', 1, 2, 8, NULL}},
     "[0:worker0_run.pt.trace.json 1:worker1_run.pt.trace.json]",
     NULL},
    {{{"worker0.1623143566756.pt.trace.json.gz", 'd', -1, -1, 7, NULL}},
     "[0:worker0.1623143566756.pt.trace.json.gz]",
     NULL},
    {{{"rank-0.Apr_03_20_43_19.1.pt.trace.json.gz", 'd', 0, 2, 7, NULL},
      {"rank-1.Apr_03_20_43_21.9.pt.trace.json.gz", 'd', 1, 2, 8, NULL}},
     "[0:rank-0.Apr_03_20_43_19.1.pt.trace.json.gz 1:rank-1.Apr_03_20_43_21.9.pt.trace.json.gz]",
     NULL},
    {{{"sampled_rank-0.json.gz", 'd', 5, 8, 7, NULL}}, "[5:sampled_rank-0.json.gz]", NULL}, /* content before name */
    {{{"trace.json.gz", 'd', -1, -1, 7, NULL}}, "[0:trace.json.gz]", NULL},
    {{{"inference_rank_1.json.zst", 'd', -1, -1, 7, NULL}}, "[1:inference_rank_1.json.zst]", NULL},
    {{{"alpha_4037.1682725898236.pt.trace.json", 'd', 0, 2, 4037, NULL}, /* TensorBoard's, two hosts */
      {"beta_977.1682725898299.pt.trace.json", 'd', 1, 2, 977, NULL}},
     "[0:alpha_4037.1682725898236.pt.trace.json 1:beta_977.1682725898299.pt.trace.json]",
     NULL},
    {{{"one.json", 'd', 1, 4, 7, NULL}, {"two.json", 'd', 0, 4, 8, NULL}, {"config.json", 'x', -1, -1, 1, NULL}},
     "[0:two.json 1:one.json]", /* only the content tells */
     NULL},
    {{{"trace_0.json", 'd', -1, -1, 7, NULL}, {"trace_1.json", 'd', -1, -1, 8, NULL}},
     "[0:trace_0.json 1:trace_1.json]",
     NULL},
    {{{"run_17.json", 'd', -1, -1, 7, NULL}}, "[0:run_17.json]", NULL}, /* a lone file's number is anything */
    {{{"host_0.json", 'h', -1, -1, 7, NULL},
      {"device_0.json", 'd', 0, 2, 7, NULL},
      {"host_1.json", 'h', -1, -1, 8, NULL},
      {"device_1.json", 'd', 1, 2, 8, NULL}},
     "[0:device_0.json+host_0.json 1:device_1.json+host_1.json]",
     NULL},
    {{{"device_0.json", 'd', 1, 2, 8, NULL}, /* names and content disagree: content, and hosts follow by name */
      {"device_1.json", 'd', 0, 2, 7, NULL},
      {"host_0.json", 'h', -1, -1, 8, NULL}},
     "[0:device_1.json 1:device_0.json+host_0.json]",
     NULL},
    {{{"device_0.json", 'd', 0, 1, 7, NULL}, {"device_1.json", 'd', 0, 1, 8, NULL}},
     "[0:device_0.json 1:device_1.json]", /* two runs of one rank each, as far as they know: names */
     NULL},
    {{{"et.json", 'h', -1, -1, 7, NULL}, {"kineto.json", 'd', 3, 8, 9, NULL}}, "[3:kineto.json+et.json]", NULL},
    {{{"et-a.json", 'h', -1, -1, 8, NULL}, /* by process */
      {"et-b.json", 'h', -1, -1, 7, NULL},
      {"p.json", 'd', 0, 2, 7, NULL},
      {"q.json", 'd', 1, 2, 8, NULL}},
     "[0:p.json+et-b.json 1:q.json+et-a.json]",
     NULL},
    {{{"et-a.json", 'h', -1, -1, 1, NULL},
      {"et-b.json", 'h', -1, -1, 2, NULL},
      {"p.json", 'd', 0, 2, 7, NULL},
      {"q.json", 'd', 1, 2, 8, NULL}},
     NULL,
     "nothing tells which device trace it goes with"},
    {{{"a.json", 'd', 0, 2, 7, NULL}, {"b.json", 'd', 0, 2, 8, NULL}}, "a[0:a.json] b[0:b.json]", NULL},
    {{{"x.json", 'd', 0, 2, 7, NULL}, {"x.json.gz", 'd', 0, 2, 8, NULL}}, NULL, "is a device trace of rank 0 too"},
    {{{"host_0.json", 'h', -1, -1, 7, NULL}, {"host_0.json.gz", 'h', -1, -1, 7, NULL}},
     NULL,
     "is a host trace of rank 0 too"},
    {{{"worker0.1623143566756.pt.trace.json", 'd', 0, 2, 7, NULL}, /* two windows of one job */
      {"worker0.1623143999999.pt.trace.json", 'd', 0, 2, 7, NULL},
      {"worker1.1623143566799.pt.trace.json", 'd', 1, 2, 8, NULL},
      {"worker1.1623144000000.pt.trace.json", 'd', 1, 2, 8, NULL}},
     "1623143566756[0:worker0.1623143566756.pt.trace.json 1:worker1.1623143566799.pt.trace.json] "
     "1623143999999[0:worker0.1623143999999.pt.trace.json 1:worker1.1623144000000.pt.trace.json]",
     NULL},
    {{{"train_rank_0.json", 'd', 0, 2, 7, NULL},
      {"train_rank_1.json", 'd', 1, 2, 8, NULL},
      {"eval_rank_0.json", 'd', 0, 2, 9, NULL}},
     "eval[0:eval_rank_0.json] train[0:train_rank_0.json 1:train_rank_1.json]",
     NULL},
    {{{"job_rank_0.json", 'd', 0, 2, 7, NULL}, {"job_rank_1.json", 'd', 1, 4, 8, NULL}},
     "job-2-ranks[0:job_rank_0.json] job-4-ranks[1:job_rank_1.json]",
     NULL},
    {{{"rank_0.json", 'd', 0, 2, 7, "6e4c"}, {"rank_1.json", 'd', 1, 2, 8, "99aa"}},
     "6e4c[0:rank_0.json] 99aa[1:rank_1.json]",
     NULL},
    {{{"one.json", 'd', -1, -1, 7, NULL}, {"two.json", 'd', -1, -1, 8, NULL}}, "one[0:one.json] two[0:two.json]", NULL},
    {{{"config.json", 'x', -1, -1, 1, NULL}}, NULL, "no recording here"},
};

static void content_and_names_tell_jobs_and_ranks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mem mem = {0};
        struct arena arena;
        struct import_job *jobs = NULL;
        uint32_t count = 0;
        char place[64];
        char paths[FILES_MOST][128];
        const char *list[FILES_MOST];
        uint32_t files = 0;
        char found[TEXT_ROOM] = "";
        (void)snprintf(place, sizeof place, "%s/case%zu", folder, i);
        (void)mkdir(place, 0777);
        for (; files < FILES_MOST && rows[i].files[files].name != NULL; files++) {
            write_recording(place, &rows[i].files[files]);
            (void)snprintf(paths[files], sizeof paths[files], "%s/%s", place, rows[i].files[files].name);
            list[files] = paths[files];
        }
        const char *one = place;
        arena_init(&arena, &mem);
        enum orr_status status = import_jobs(&one, 1, &arena, &jobs, &count, &err);
        if (rows[i].want == NULL) {
            CHECK_STATUS(status, ORR_EINVAL);
            CHECK_CONTAINS(err.text, rows[i].error);
        } else {
            CHECK_OK(status, &err);
            describe(jobs, count, found);
            CHECK_TEXT(found, rows[i].want);
            if (strstr(rows[i].want, "config") == NULL && rows[i].files[files - 1].kind != 'x') {
                CHECK_OK(import_jobs(list, files, &arena, &jobs, &count, &err), &err); /* the same, file by file */
                describe(jobs, count, found);
                CHECK_TEXT(found, rows[i].want);
            }
        }
        arena_free(&arena);
        CHECK_U64(mem.used, 0, "everything is given back");
    }
}

static void several_runs_are_asked_about_by_tag(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct arena arena;
    struct import_pair *pairs = NULL;
    uint32_t count = 0;
    char place[64];
    (void)snprintf(place, sizeof place, "%s/asked", folder);
    (void)mkdir(place, 0777);
    write_recording(place, &(struct file){"train_rank_0.json", 'd', 0, 2, 7, NULL});
    write_recording(place, &(struct file){"eval_rank_0.json", 'd', 0, 2, 9, NULL});
    arena_init(&arena, &mem);
    CHECK_STATUS(import_find(place, NULL, NULL, 0, &arena, &pairs, &count, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "recordings of 2 runs are here, tagged eval, train; parameter 'tag' TAG picks one");
    CHECK_OK(import_find(place, "eval", NULL, 0, &arena, &pairs, &count, &err), &err);
    CHECK(count == 1 && strstr(pairs[0].device, "eval_rank_0") != NULL, "the one asked for");
    arena_free(&arena);
}

/* ---- what is no recording of ours ---- */

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
    const char *name, *bytes;
    size_t size;
    enum recording_kind kind;
    const char *what;
} kinds[] = {
    {"a.xplane.pb", BYTES("\x0a\x10\x08\x01\x12\x0c/host:CPU xyz"), RECORDING_OTHER, "JAX or TensorFlow"},
    {"x.json", BYTES("{\"rocprofiler-sdk-tool\": [{\"metadata\": {}}]}"), RECORDING_ROCPROF, "rocprofv3"},
    {"x.csv", BYTES("\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"), RECORDING_OTHER,
     "rocprofv3 (CSV)"},
    {"r.db", BYTES("SQLite format 3\0 CREATE TABLE rocpd_kernel_dispatch"), RECORDING_OTHER, "rocpd"},
    {"r.sqlite", BYTES("SQLite format 3\0 CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"), RECORDING_OTHER, "Nsight Systems"},
    {"r.nsys-rep", BYTES("\x01\x02\x03"), RECORDING_OTHER, "Nsight Systems"},
    {"s.pickle", BYTES("\x80\x04\x95 segments device_traces"), RECORDING_OTHER, "memory snapshot"},
    {"nccl_trace_rank_0", BYTES("\x80\x04\x95 collective_seq_id"), RECORDING_OTHER, "flight recorder"},
    {"n.json", BYTES("{\"header\": {\"rank\": 0}, \"coll_perf\": {\"coll\": \"AllReduce\"}}"), RECORDING_OTHER,
     "NCCL's inspector"},
    {"t.pftrace", BYTES("\x0a\x05zzzzz"), RECORDING_OTHER, "Perfetto"},
    {"t.json",
     BYTES("{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"orrery\", \"world_size\": 8}, "
           "\"traceEvents\": []}"),
     RECORDING_OTHER, "a timeline of orrery run"},
    {"j.json", BYTES("{\"traceEvents\": [{\"ph\": \"M\", \"args\": {\"name\": \"/device:GPU:0\"}}]}"), RECORDING_OTHER,
     "TensorFlow"},
    {"h.json", BYTES("[{\"ph\": \"B\", \"name\": \"NEGOTIATE_ALLREDUCE\"}]"), RECORDING_OTHER, "Horovod"},
    {"k.json", BYTES("{\"traceEvents\": []}"), RECORDING_KINETO, "PyTorch's profiler"},
    {"e.json", BYTES("{\"schema\": \"1.0.2\", \"nodes\": []}"), RECORDING_HOST, "execution trace"},
    {"c.json", BYTES("{\"a\": 1}"), RECORDING_UNKNOWN, ""},
    {"ready.json", BYTES("{\"host\": {\"nodes\": 231, \"schema\": \"1.1.1\"}}"), RECORDING_UNKNOWN, ""},
    {"c.txt", BYTES("words"), RECORDING_UNKNOWN, ""},
    {"c.txt", BYTES(""), RECORDING_UNKNOWN, ""},
};

static void what_others_profilers_write_is_recognised_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct recording_about about;
        recording_identify_bytes(kinds[i].bytes, kinds[i].size, kinds[i].name, &about);
        CHECK(about.kind == kinds[i].kind, "%s: kind %d", kinds[i].name, (int)about.kind);
        CHECK_CONTAINS(about.what, kinds[i].what);
        CHECK(about.kind != RECORDING_OTHER || about.advice[0] != '\0', "%s: what to do instead", kinds[i].name);
    }
}

static void a_file_of_the_wrong_kind_is_refused_by_name_of_its_kind(void **state)
{
    (void)state;
    struct orr_import_options options = {.prefix = "x"};
    const char *path = folder_path("snapshot.pickle");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    (void)fputs("\x80\x04\x95 segments device_traces", file);
    (void)fclose(file);
    options.folder = path;
    CHECK_STATUS(orr_trace_import(&options, NULL, NULL, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "snapshot.pickle: this is a memory snapshot of PyTorch");
    CHECK_CONTAINS(err.text, "record with torch.profiler");
    struct orr_ready_options ready = {.folder = path};
    bool usable = true;
    struct orr_error same = {0};
    CHECK_STATUS(orr_trace_ready(&ready, NULL, &usable, &same), ORR_EINVAL);
    CHECK_TEXT(same.text, err.text);
}

static void a_rank_told_behind_the_events_is_found(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct recording_about about;
    const char *path = folder_path("late.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("{\"schemaVersion\": 1, \"traceEvents\": [", file);
    for (int i = 0; i < 30000; i++) {
        (void)fprintf(file, "%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": %d, \"dur\": 1}",
                      i > 0 ? ",\n" : "", i);
    }
    (void)fputs("], \"distributedInfo\": {\"rank\": 11, \"world_size\": 64}}", file);
    (void)fclose(file);
    CHECK_OK(recording_identify(path, &mem, &about, &err), &err);
    CHECK(about.rank == 11 && about.world_size == 64, "rank %d", (int)about.rank);
    CHECK_U64(mem.used, 0, "everything is given back");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_and_names_tell_jobs_and_ranks),
        cmocka_unit_test(several_runs_are_asked_about_by_tag),
        cmocka_unit_test(what_others_profilers_write_is_recognised_and_named),
        cmocka_unit_test(a_file_of_the_wrong_kind_is_refused_by_name_of_its_kind),
        cmocka_unit_test(a_rank_told_behind_the_events_is_found),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
