/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of recordings imported whole: files found and paired, all ranks or none written, the two-step way gives the
 * same bytes, and on real recordings the bytes of the gradients and the order of the all-reduces are right. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/pytorch/emit/emit.h"
#include "convert/pytorch/hdt/ours.h"
#include "convert/pytorch/import/import.h"
#include "tests/check.h"
#include "tests/convert/make_recording.h"
#include "tests/folder.h"
#include "trace/document.h"

enum { PATH_ROOM = 512 };

static struct orr_error err;

static void path_in(char path[PATH_ROOM], const char *name)
{
    (void)snprintf(path, PATH_ROOM, "%s/%s", folder, name);
}

static void make_in(const char *name, uint32_t ranks)
{
    char path[PATH_ROOM];
    path_in(path, name);
    (void)mkdir(path, 0777);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct made_recording made;
        struct make_recording options = {.folder = path, .rank = rank, .ranks = ranks, .steps = 2, .kernels = 20};
        CHECK(make_recording(&options, &made), "rank %u", rank);
    }
}

static void rename_in(const char *from, const char *to)
{
    char a[PATH_ROOM];
    char b[PATH_ROOM];
    path_in(a, from);
    path_in(b, to);
    CHECK(rename(a, b) == 0, "%s to %s", from, to);
}

static bool exists(const char *name)
{
    char path[PATH_ROOM];
    path_in(path, name);
    return access(path, F_OK) == 0;
}

static char *read_in(const char *name, size_t *size)
{
    char path[PATH_ROOM];
    path_in(path, name);
    FILE *stream = fopen(path, "rb");
    CHECK(stream != NULL, "%s", path);
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 22, stream);
    (void)fclose(stream);
    return bytes;
}

static void check_same(const char *a, const char *b)
{
    size_t size_a = 0;
    size_t size_b = 0;
    char *bytes_a = read_in(a, &size_a);
    char *bytes_b = read_in(b, &size_b);
    CHECK(size_a > 0 && size_a == size_b && memcmp(bytes_a, bytes_b, size_a) == 0, "%s (%zu) and %s (%zu) differ", a,
          size_a, b, size_b);
    free(bytes_a);
    free(bytes_b);
}

static enum orr_status import_in(const char *from, const char *prefix, struct orr_import_options options, char **report)
{
    char input[PATH_ROOM];
    char output[PATH_ROOM];
    size_t size = 0;
    path_in(input, from);
    path_in(output, prefix);
    options.folder = input;
    options.prefix = output;
    FILE *stream = open_memstream(report, &size);
    assert_non_null(stream);
    enum orr_status status = orr_trace_import(&options, NULL, stream, &err);
    (void)fclose(stream);
    return status;
}

static void all_ranks_of_a_folder_are_imported(void **state)
{
    (void)state;
    char *report = NULL;
    make_in("four", 4);
    CHECK_OK(import_in("four", "out/four", (struct orr_import_options){.jobs = 3}, &report), &err);
    CHECK(exists("out/four.0.et") && exists("out/four.3.et"), "files");
    CHECK(exists("out/four.groups.json"), "groups");
    CHECK_CONTAINS(report, "rank 3");
    CHECK_CONTAINS(report, "all-reduce");
    CHECK_CONTAINS(report, "2180392");
    free(report);
    CHECK_OK(import_in("four", "out/alone", (struct orr_import_options){.jobs = 1}, &report), &err);
    check_same("out/four.2.et", "out/alone.2.et");
    free(report);
}

static void either_all_files_are_written_or_none(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    char *report = NULL;
    make_in("broken", 2);
    path_in(path, "broken/device_1.json");
    CHECK(truncate(path, 2000) == 0, "cut");
    FILE *stream = fopen(path, "a");
    assert_non_null(stream);
    (void)fputs("}}]{", stream);
    (void)fclose(stream);
    CHECK(import_in("broken", "out/broken", (struct orr_import_options){0}, &report) != ORR_OK, "it is broken");
    CHECK(!exists("out/broken.0.et") && !exists("out/broken.1.et"), "no file");
    CHECK_CONTAINS(err.text, "device_1.json");
    free(report);
}

static void tags_tell_runs_apart(void **state)
{
    (void)state;
    char *report = NULL;
    make_in("tagged", 2);
    rename_in("tagged/host_1.json", "tagged/pytorch_et_1_big.json");
    rename_in("tagged/device_1.json", "tagged/kineto_1_big.json");
    CHECK_STATUS(import_in("tagged", "out/t", (struct orr_import_options){0}, &report), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "big");
    CHECK_CONTAINS(err.text, "parameter 'tag'");
    free(report);
    CHECK_STATUS(import_in("tagged", "out/t", (struct orr_import_options){.tag = "small"}, &report), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "small");
    free(report);
    CHECK_OK(import_in("tagged", "out/t", (struct orr_import_options){.tag = "big"}, &report), &err);
    CHECK(exists("out/t.1.et") && !exists("out/t.0.et"), "rank 1 only");
    free(report);
}

static void ranks_can_be_picked_and_must_be_there(void **state)
{
    (void)state;
    char *report = NULL;
    const uint32_t one[] = {1};
    const uint32_t nine[] = {1, 9};
    make_in("pick", 2);
    CHECK_OK(import_in("pick", "out/p", (struct orr_import_options){.ranks = one, .rank_count = 1}, &report), &err);
    CHECK(exists("out/p.1.et") && !exists("out/p.0.et"), "rank 1 only");
    free(report);
    CHECK_STATUS(import_in("pick", "out/p", (struct orr_import_options){.ranks = nine, .rank_count = 2}, &report),
                 ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no recording of rank 9 here; there are 2 ranks, 0 to 1");
    free(report);
}

static void a_folder_without_recordings_is_refused(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    char *report = NULL;
    path_in(path, "empty");
    (void)mkdir(path, 0777);
    CHECK_STATUS(import_in("empty", "out/e", (struct orr_import_options){0}, &report), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "device_R.json");
    free(report);
    CHECK_STATUS(import_in("nowhere", "out/e", (struct orr_import_options){0}, &report), ORR_EIO);
    free(report);
}

/* ---- what is in a file ---- */

struct tally {
    uint64_t nodes, host, device, comms, edges;
    uint64_t all_reduce_bytes, all_to_all_bytes;
    uint64_t steps[2];    /* nodes of steps 1 and 2 */
    uint64_t least_share; /* of an all-reduce: how much of its recorded start its dependencies take, percent */
};

static void tally_file(const char *path, struct tally *tally)
{
    struct mem mem = {0};
    struct trace_document *document = NULL;
    CHECK_OK(trace_document_read(path, &mem, &document, &err), &err);
    uint64_t *ends = calloc(document->node_count + 1, sizeof *ends); /* when it can be over at the earliest, us */
    assert_non_null(ends);
    *tally = (struct tally){.least_share = 1000};
    for (uint32_t i = 0; i < document->node_count; i++) {
        const Chakra__Node *node = document->nodes[i];
        const Chakra__Attribute *cpu = trace_document_attribute(node, TRACE_ATTR_IS_CPU_OP);
        uint32_t type = (uint32_t)node->type;
        bool is_comm = type == TRACE_COLL || type == TRACE_SEND || type == TRACE_RECV;
        uint64_t start = 0;
        CHECK_U64(node->id, i, "ids count up");
        CHECK_U64(node->n_ctrl_deps, 0, "node %u", i);
        for (size_t d = 0; d < node->n_data_deps; d++) {
            CHECK(node->data_deps[d] < i, "node %u depends on %" PRIu64, i, (uint64_t)node->data_deps[d]);
            start = ends[node->data_deps[d]] > start ? ends[node->data_deps[d]] : start;
        }
        ends[i] = start + node->duration_micros;
        tally->nodes++;
        tally->edges += node->n_data_deps;
        tally->comms += is_comm;
        tally->host += cpu != NULL && cpu->bool_val;
        tally->device += cpu != NULL && !cpu->bool_val && !is_comm;
        if (type == TRACE_COLL) {
            uint64_t bytes = 0;
            uint64_t kind = 1;
            bool negative = false;
            CHECK(trace_document_integer(trace_document_attribute(node, TRACE_ATTR_COMM_SIZE), &bytes, &negative),
                  "size");
            CHECK(trace_document_integer(trace_document_attribute(node, TRACE_ATTR_COMM_TYPE), &kind, &negative),
                  "type");
            CHECK(cpu != NULL && !cpu->bool_val, "a feeder refuses communication of the host");
            tally->all_to_all_bytes += kind == COMM_ALL_TO_ALL ? bytes : 0;
            if (kind == COMM_ALL_REDUCE) {
                uint64_t share = start * 100 / (node->start_time_micros + 1);
                tally->all_reduce_bytes += bytes;
                tally->least_share = share < tally->least_share ? share : tally->least_share;
            }
        }
        for (size_t a = 0; a < node->n_attr; a++) {
            if (strcmp(node->attr[a]->name, "step") == 0 && node->attr[a]->int64_val >= 1 &&
                node->attr[a]->int64_val <= 2) {
                tally->steps[node->attr[a]->int64_val - 1]++;
            }
        }
    }
    free(ends);
    trace_document_free(document);
}

static void what_is_left_out_leaves_the_order(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    char *report = NULL;
    struct tally whole;
    struct tally part;
    const int64_t second[] = {2, 2};
    make_in("drop", 2);
    CHECK_OK(import_in("drop", "out/whole", (struct orr_import_options){0}, &report), &err);
    free(report);
    path_in(path, "out/whole.0.et");
    tally_file(path, &whole);
    CHECK_OK(import_in("drop", "out/cpu", (struct orr_import_options){.drop_cpu = true}, &report), &err);
    free(report);
    path_in(path, "out/cpu.0.et");
    tally_file(path, &part);
    CHECK_U64(part.host, 0, "no host op");
    CHECK_U64(part.device, whole.device, "every kernel");
    CHECK_U64(part.comms, whole.comms, "every communication");
    CHECK(part.edges + 2 >= part.device, "%" PRIu64 " edges for %" PRIu64 " kernels", part.edges, part.device);
    CHECK_OK(import_in("drop", "out/step", (struct orr_import_options){.steps = second, .step_pair_count = 1}, &report),
             &err);
    CHECK_CONTAINS(report, "2180392");
    free(report);
    path_in(path, "out/step.0.et");
    tally_file(path, &part);
    CHECK_U64(part.steps[0], 0, "nothing of the first step");
    CHECK_U64(part.steps[1], whole.steps[1], "everything of the second");
}

static void linking_and_converting_gives_the_same_bytes(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct notes notes;
    char host[PATH_ROOM];
    char device[PATH_ROOM];
    char output[PATH_ROOM];
    char converted[PATH_ROOM];
    char *report = NULL;
    const uint32_t one[] = {1};
    make_in("two", 2);
    CHECK_OK(import_in("two", "out/two", (struct orr_import_options){.ranks = one, .rank_count = 1}, &report), &err);
    free(report);
    notes_init(&notes, &mem, false);
    path_in(host, "two/host_1.json");
    path_in(device, "two/device_1.json");
    static const char *const names[] = {"hdt.json", "hdt.json.gz", "hdt.json.zst"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct linked_counts counts;
        struct convert_summary summary;
        path_in(output, names[i]);
        path_in(converted, "out/steps.1.et");
        CHECK_OK(link_run(
                     &(struct link_request){
                         .host = host, .device = device, .output = output, .rank = -1, .mem = &mem, .notes = &notes},
                     &counts, &err),
                 &err);
        CHECK_OK(pytorch_convert(
                     &(struct convert_request){
                         .input = output, .output = converted, .passes = 1, .mem = &mem, .notes = &notes},
                     &summary, &err),
                 &err);
        CHECK(summary.collectives > 0 && summary.files == 1, "summary");
        check_same("out/two.1.et", "out/steps.1.et");
    }
    notes_free(&notes);
    CHECK_U64(mem.used, 0, "memory left over");
}

static void a_host_trace_alone_gives_order_and_communication(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    char *report = NULL;
    struct tally tally;
    make_in("bare", 2);
    path_in(path, "bare/device_0.json");
    CHECK(unlink(path) == 0, "%s", path);
    path_in(path, "bare/device_1.json");
    CHECK(unlink(path) == 0, "%s", path);
    CHECK_OK(import_in("bare", "out/bare", (struct orr_import_options){0}, &report), &err);
    free(report);
    path_in(path, "out/bare.0.et");
    tally_file(path, &tally);
    CHECK(tally.host > 0 && tally.comms > 0, "%" PRIu64 " host, %" PRIu64 " comms", tally.host, tally.comms);
    CHECK_U64(tally.all_reduce_bytes, 2 * 2180392, "two steps");
}

static void an_uneven_all_to_all_has_one_size_in_all_files(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    char *report = NULL;
    uint64_t first = 0;
    make_in("uneven", 4);
    CHECK_OK(import_in("uneven", "out/uneven", (struct orr_import_options){0}, &report), &err);
    free(report);
    for (uint32_t rank = 0; rank < 4; rank++) {
        char name[32];
        struct tally tally;
        (void)snprintf(name, sizeof name, "out/uneven.%u.et", rank);
        path_in(path, name);
        tally_file(path, &tally);
        first = rank == 0 ? tally.all_to_all_bytes : first;
        CHECK(first > 0, "there is one");
        CHECK_U64(tally.all_to_all_bytes, first, "rank %u", rank);
    }
}

/* ---- real recordings ---- */

static void check_real(const char *from, const char *name, uint32_t ranks, uint32_t steps, uint64_t parameters)
{
    char output[PATH_ROOM];
    path_in(output, name);
    struct orr_import_options options = {.folder = from, .prefix = output};
    char *report = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&report, &size);
    assert_non_null(stream);
    struct orr_notices strict = {.strict = true}; /* nothing to warn of */
    CHECK_OK(orr_trace_import(&options, &strict, stream, &err), &err);
    (void)fclose(stream);
    free(report);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct tally tally;
        char path[2 * PATH_ROOM];
        (void)snprintf(path, sizeof path, "%s.%u.et", output, rank);
        tally_file(path, &tally);
        CHECK_U64(tally.all_reduce_bytes, 4 * parameters * steps, "%s rank %u", from, rank);
        CHECK(tally.least_share >= 98 && tally.least_share <= 102,
              "%s rank %u: an all-reduce is ready at %" PRIu64 " %%", from, rank, tally.least_share);
    }
}

static void recorded_gradients_are_reduced_when_they_are_ready(void **state)
{
    (void)state;
    check_real(TEST_SOURCE_FOLDER "/tests/data/pytorch/cifar10_gloo", "cifar", 2, 1, 545098);
    check_real(TEST_SOURCE_FOLDER "/tests/data/pytorch/cifar10_sync", "sync", 1, 2, 17159306);
}

static void the_archives_recordings_import_too(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t ranks;
        uint64_t parameters;
    } runs[] = {{"cifar10_gloo", 2, 545098},
                {"cifar10_nccl1", 1, 545098},
                {"resnet50_gloo", 2, 23520842},
                {"resnet50_nccl1", 1, 23520842}};
    const char *shared = getenv("ORRERY_SHARED");
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        char from[PATH_ROOM];
        (void)snprintf(from, sizeof from, "%s/data/pytorch/%s",
                       shared != NULL ? shared : TEST_SOURCE_FOLDER "/../shared", runs[i].name);
        if (access(from, R_OK) != 0) {
            print_message("%s is not there: skipped\n", from);
            skip();
        }
        check_real(from, runs[i].name, runs[i].ranks, 1, runs[i].parameters);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_MAP(all_ranks_of_a_folder_are_imported, either_all_files_are_written_or_none, tags_tell_runs_apart,
                  ranks_can_be_picked_and_must_be_there, a_folder_without_recordings_is_refused,
                  what_is_left_out_leaves_the_order, linking_and_converting_gives_the_same_bytes,
                  a_host_trace_alone_gives_order_and_communication, an_uneven_all_to_all_has_one_size_in_all_files,
                  recorded_gradients_are_reduced_when_they_are_ready, the_archives_recordings_import_too)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
