/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every graph of the archive (golden/simai.tar.xz, stg/) through the program itself, with the sheets it was made from
 * (public/inputs.tar.xz): traces equal byte for byte, or node by node where there is only a dump; the groups' file and
 * the memory report too. The original's tags
 * begin at a random number, which is taken from the golden trace. Skipped (exit 77) where the archives are not there:
 * they are looked for in $ORRERY_SHARED, else in `shared` beside the source tree.
 *
 * Usage: test_stg_archive PROGRAM SOURCE-FOLDER
 */
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/check.h"
#include "tests/golden/shared.h"
#include "trace/graph.h"

enum { ARGUMENTS_MAX = 80, PATH_SIZE = 1024 };

struct archive {
    char folder[256];
    const char *program;
    size_t equal, refused;
};

struct bytes {
    unsigned char *data;
    size_t size;
};

/* gzread takes packed and plain files alike. */
static struct bytes read_all(const char *path)
{
    struct bytes all = {NULL, 0};
    gzFile file = gzopen(path, "rb");
    for (int got = 1; file != NULL && got > 0;) {
        all.data = realloc(all.data, all.size + 65537);
        assert_non_null(all.data);
        got = gzread(file, all.data + all.size, 65536);
        all.size += got > 0 ? (size_t)got : 0;
        all.data[all.size] = '\0';
    }
    if (file != NULL)
        gzclose(file);
    return all;
}

/* The smallest tag of any message in the trace, or `least`. */
static unsigned long find_tag(struct bytes trace, unsigned long least)
{
    static const char mark[] = "\x08"
                               "comm_tag\x38";
    const unsigned char *at = trace.data;
    const unsigned char *end = trace.data + trace.size;
    while ((at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1)) != NULL) {
        unsigned long tag = 0;
        at += sizeof mark - 1;
        for (unsigned shift = 0; at < end; at++, shift += 7) {
            tag |= (unsigned long)(*at & 0x7f) << shift;
            if (*at < 0x80)
                break;
        }
        least = tag < least ? tag : least;
    }
    return least;
}

static bool same_file(const char *got_path, const char *want_path)
{
    struct bytes got = read_all(got_path);
    struct bytes want = read_all(want_path);
    bool same =
        got.data != NULL && want.data != NULL && got.size == want.size && memcmp(got.data, want.data, got.size) == 0;
    if (!same)
        print_error("%s (%zu bytes) is not %s (%zu bytes)\n", got_path, got.size, want_path, want.size);
    free(got.data);
    free(want.data);
    return same;
}

/* All traces of the case, how many, and where their tags begin. */
static size_t look_at_case(const char *folder, unsigned long *tag)
{
    size_t count = 0;
    *tag = 1000000000;
    for (char path[2 * PATH_SIZE];; count++) {
        snprintf(path, sizeof path, "%s/workload.%zu.et.gz", folder, count);
        if (access(path, F_OK) != 0)
            break;
        struct bytes trace = read_all(path);
        *tag = find_tag(trace, *tag);
        free(trace.data);
    }
    *tag = *tag == 1000000000 ? 0 : *tag;
    return count;
}

/* ---- cases of which only dumps are there: a line a node ---- */

static bool same_node(const struct trace_graph *graph, const json_t *line)
{
    uint32_t at = trace_graph_find(graph, (uint64_t)json_integer_value(json_object_get(line, "id")));
    const json_t *attr = json_object_get(line, "attr");
    const json_t *data = json_object_get(line, "data");
    if (at == UINT32_MAX)
        return false;
    const struct trace_node *node = &graph->nodes[at];
    bool same = strcmp(trace_graph_name(graph, at), json_string_value(json_object_get(line, "name"))) == 0 &&
                graph->parent_written[at] == json_array_size(data);
    for (size_t i = 0; same && i < json_array_size(data); i++)
        same = graph->nodes[graph->parents[graph->parent_start[at] + i]].id ==
               (uint64_t)json_integer_value(json_array_get(data, i));
    const char *group = json_string_value(json_object_get(attr, "pg_name"));
    return same && node->num_ops == (uint64_t)json_integer_value(json_object_get(attr, "num_ops")) &&
           node->comm_bytes == (uint64_t)json_integer_value(json_object_get(attr, "comm_size")) &&
           node->tensor_bytes == (uint64_t)json_integer_value(json_object_get(attr, "tensor_size")) &&
           (group == NULL || strcmp(graph->strings + node->group, group) == 0);
}

static bool same_dump(const char *trace_path, const char *dump_path)
{
    struct mem mem = {0};
    struct orr_error err = {0};
    struct trace_graph *graph = NULL;
    struct bytes trace = read_all(trace_path);
    struct bytes dump = read_all(dump_path);
    size_t lines = 0;
    bool same =
        trace.data != NULL && trace_graph_parse(trace.data, trace.size, trace_path, &mem, &graph, &err) == ORR_OK;
    for (char *rest = (char *)dump.data, *line; same && (line = strtok_r(rest, "\n", &rest)) != NULL; lines++) {
        json_t *record = json_loads(line, 0, NULL);
        same = record != NULL && same_node(graph, record);
        json_decref(record);
    }
    same = same && lines == graph->node_count;
    if (!same)
        print_error("%s is not %s (line %zu)\n", trace_path, dump_path, lines);
    trace_graph_free(graph);
    free(trace.data);
    free(dump.data);
    return same;
}

/* How many dumps of the case are equal; 0 when one is not. */
static size_t compare_dumps(const char *folder, const char *out)
{
    size_t count = 0;
    for (unsigned rank = 0; rank < 64; rank++) {
        char got[2 * PATH_SIZE];
        char want[2 * PATH_SIZE];
        snprintf(got, sizeof got, "%s/workload.%u.et", out, rank);
        snprintf(want, sizeof want, "%s/rank%u.jsonl.gz", folder, rank);
        if (access(want, F_OK) != 0)
            continue;
        if (!same_dump(got, want))
            return 0;
        count++;
    }
    return count;
}

static bool same_memory(const char *output, const char *want_path)
{
    struct bytes want = read_all(want_path);
    struct bytes got = read_all(output);
    bool same = want.size == 0 || (got.size >= want.size && memcmp(got.data, want.data, want.size) == 0);
    free(want.data);
    free(got.data);
    return same;
}

static int run_case(const struct archive *archive, const json_t *record, const char *out, unsigned long tag)
{
    char sheets[PATH_SIZE];
    char base[32];
    char output[PATH_SIZE];
    char *argv[ARGUMENTS_MAX] = {
        (char *)archive->program, "gen", "stg", "--compat", "stg", "--sheets", sheets, "--tag_base", base};
    size_t count = 9;
    snprintf(sheets, sizeof sheets, "%s/stg/sharding_spreadsheets", archive->folder);
    snprintf(base, sizeof base, "%lu", tag);
    snprintf(output, sizeof output, "%s.txt", out);
    char *line = strdup(json_string_value(json_object_get(record, "cmd")));
    char *rest = line;
    for (char *word = strtok_r(line, " ", &rest); word != NULL && count + 1 < ARGUMENTS_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        if (strncmp(word, "python", 6) != 0 && strncmp(word, "main", 4) != 0)
            argv[count++] = strcmp(word, "OUT") == 0 ? (char *)out : word;
    }
    argv[count] = NULL;
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(record, "env"), name, value)
    {
        setenv(name, json_string_value(value), 1);
    }
    int code = golden_spawn(argv, argv[0], ".", output);
    json_object_foreach(json_object_get(record, "env"), name, value)
    {
        unsetenv(name);
    }
    free(line);
    return code;
}

static bool try_case(struct archive *archive, const json_t *record)
{
    const char *name = json_string_value(json_object_get(record, "case"));
    char folder[PATH_SIZE];
    char out[PATH_SIZE];
    char got[2 * PATH_SIZE];
    char want[2 * PATH_SIZE];
    unsigned long tag = 0;
    snprintf(folder, sizeof folder, "%s/stg/cases/%s", archive->folder, name);
    snprintf(out, sizeof out, "%s/out-%s", archive->folder, name);
    size_t ranks = look_at_case(folder, &tag);
    bool failed = json_integer_value(json_object_get(record, "rc")) != 0;
    if (failed && strncmp(name, "err-", 4) == 0) {
        archive->refused++;
        return run_case(archive, record, out, 0) == 2;
    }
    if (access(folder, F_OK) != 0)
        return true; /* kept back, or one of those that the original fails at and we do not */
    if (run_case(archive, record, out, tag) != 0) {
        print_error("%s: the program failed\n", name);
        return false;
    }
    bool same = compare_dumps(folder, out) > 0;
    for (size_t rank = 0; rank < ranks && same; rank++) {
        snprintf(got, sizeof got, "%s/workload.%zu.et", out, rank);
        snprintf(want, sizeof want, "%s/workload.%zu.et.gz", folder, rank);
        same = same_file(got, want);
    }
    snprintf(got, sizeof got, "%s/workload.json", out);
    snprintf(want, sizeof want, "%s/comm_groups.json", folder);
    same = same && same_file(got, want);
    snprintf(got, sizeof got, "%s.txt", out);
    snprintf(want, sizeof want, "%s/vram.txt", folder);
    same = same && same_memory(got, want);
    archive->equal += same;
    return same;
}

static bool try_list(struct archive *archive, const char *list)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/stg/%s", archive->folder, list);
    struct bytes text = read_all(path);
    bool fine = text.data != NULL;
    for (char *rest = (char *)text.data, *line; fine && (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        json_t *record = json_loads(line, 0, NULL);
        assert_non_null(record);
        fine = try_case(archive, record);
        json_decref(record);
    }
    free(text.data);
    return fine;
}

static bool unpack(const struct archive *archive, const char *shared, const char *tarball, const char *part)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", shared, tarball);
    if (access(path, R_OK) != 0) {
        printf("skipped: no %s\n", path);
        return false;
    }
    char *argv[] = {"tar", "-xJf", path, "-C", (char *)archive->folder, (char *)part, NULL};
    return golden_spawn(argv, argv[0], ".", "/dev/null") == 0;
}

int main(int argc, char **argv)
{
    char shared[PATH_SIZE];
    struct archive archive = {.program = argc > 1 ? argv[1] : "orrery"};
    golden_shared_folder(argc > 2 ? argv[2] : ".", shared, sizeof shared);
    const char *temporary = getenv("TMPDIR");
    snprintf(archive.folder, sizeof archive.folder, "%s/orrery-stg-XXXXXX", temporary == NULL ? "/tmp" : temporary);
    if (mkdtemp(archive.folder) == NULL)
        return 1;
    bool there = unpack(&archive, shared, "golden/simai.tar.xz", "stg") &&
                 unpack(&archive, shared, "public/inputs.tar.xz", "./stg");
    bool fine = there && try_list(&archive, "golden.jsonl") && try_list(&archive, "golden_moefix.jsonl");
    char *remove[] = {"rm", "-rf", archive.folder, NULL};
    (void)golden_spawn(remove, "rm", ".", "/dev/null");
    if (!there)
        return GOLDEN_SKIPPED;
    printf("%zu graphs equal, %zu commands refused as the original does\n", archive.equal, archive.refused);
    return fine && archive.equal >= 40 && archive.refused > 0 ? 0 : 1;
}
