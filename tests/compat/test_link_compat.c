/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compatible linker on traces small enough to read. A case is two lists and what comes out: operators, calls and
 * kernels of the device trace, nodes of the host trace, nodes of the linked trace. The first two of every host trace
 * are the process and its thread. What Chakra's own linker answered for most of these lies in the archive, byte for
 * byte (test_link_archive.c); here the same is said in words.
 */
#include <jansson.h>
#include <unistd.h>

#include "compat/chakra/link.h"
#include "tests/check.h"
#include "tests/folder.h"

enum { TEXT_MAX = 8192, LINE_ROOM = 256 };

struct link_case {
    const char *about;
    const char *device; /* lines; '~' stands for a blank in a name */
    const char *host;   /* id name parent rf */
    const char *want;   /* id name ctrl=N [inclusive/exclusive@ts dep=N cat stream=N] [pg=NAME] [sync=N,N] */
};

/* op, note: name thread ts dur external-id rf ("-" = none). call, driver, kernel, copy, set, sync: name
 * thread-or-stream ts dur external-id correlation [group, "-" = ""]. old: a kernel with "external id". step: ts dur. */
static const struct link_case cases[] = {
    {"a kernel hangs on the operator that launched it",
     "step 1000 900\nop aten::mm 10 1100 50 10 5\ncall cudaLaunchKernel 10 1110 20 10 100\nkernel gemm 7 1150 30 10 "
     "100\n"
     "op aten::add 10 1200 40 11 6\ncall cudaLaunchKernel 10 1210 10 11 101\nkernel add_k 7 1230 7 11 101\n",
     "3 aten::mm 2 5\n4 aten::add 2 6\n",
     "0 process ctrl=6\n1 thread ctrl=0\n2 aten::mm ctrl=1 50/50@1100 dep=-\n3 gemm ctrl=2 30/30@1150 dep=- kernel "
     "stream=7\n4 aten::add ctrl=1 40/40@1200 dep=-\n5 add_k ctrl=4 7/7@1230 dep=- kernel stream=7\n"},
    {"nccl:coalesced is passed over for NCCL kernels, and ncclDevKernel keeps its group",
     "step 1000 900\nop c10d::allreduce_coalesced_ 10 1100 100 10 5\nnote nccl:coalesced 10 1110 80 11 6\n"
     "call cudaLaunchKernelExC 10 1120 5 11 100\nkernel ncclDevKernel_AllReduce 20 1150 30 11 100 3\n",
     "3 c10d::allreduce_coalesced_ 2 5\n4 nccl:coalesced 3 6\n",
     "0 process ctrl=5\n1 thread ctrl=0\n2 c10d::allreduce_coalesced_ ctrl=1 100/20@1100 dep=-\n"
     "3 ncclDevKernel_AllReduce ctrl=2 30/30@1150 dep=- kernel stream=20 pg=3\n4 nccl:coalesced ctrl=2 80/80@1110 "
     "dep=-\n"},
    {"a launch Chakra does not know leaves an orphan",
     "step 1000 900\nop aten::mm 10 1100 50 10 5\ncall cudaGraphLaunch 10 1110 20 10 100\nkernel k 7 1150 30 10 100\n",
     "3 aten::mm 2 5\n", "0 process ctrl=3\n1 thread ctrl=0\n2 aten::mm ctrl=1 50/50@1100 dep=-\n"},
    {"HIP's launches are known under cuda_runtime",
     "step 1000 900\nop aten::mm 10 1100 50 10 5\ncall hipExtModuleLaunchKernel 10 1110 20 10 100\nkernel k 7 1150 30 "
     "10 "
     "100\n",
     "3 aten::mm 2 5\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 aten::mm ctrl=1 50/50@1100 dep=-\n3 k ctrl=2 30/30@1150 dep=- kernel "
     "stream=7\n"},
    {"a driver call launches too",
     "step 1000 900\nop aten::mm 10 1100 50 10 5\ndriver cuLaunchKernelEx 10 1110 20 10 100\nkernel k 7 1150 30 10 "
     "100\n",
     "3 aten::mm 2 5\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 aten::mm ctrl=1 50/50@1100 dep=-\n3 k ctrl=2 30/30@1150 dep=- kernel "
     "stream=7\n"},
    {"a host node whose record function id is not in the device trace stays bare",
     "step 1000 900\nop aten::mm 10 1100 50 10 55\ncall cudaLaunchKernel 10 1110 20 10 100\nkernel gemm 7 1150 30 10 "
     "100\n",
     "3 aten::mm 2 5\n", "0 process ctrl=3\n1 thread ctrl=0\n2 aten::mm ctrl=1\n"},
    {"exclusive time is a difference of ends and starts, to the last bit",
     "step 4203669604000.5 900.25\nop o 10 4203669604595.407 340.024 10 5\nop c 10 4203669604613.811 311.681 11 6\n",
     "3 o 2 5\n4 c 3 6\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 o ctrl=1 340.024/28.34284765625@4203669604595.407 dep=-\n"
     "3 c ctrl=2 311.681/311.681@4203669604613.811 dep=-\n"},
    {"inner times are taken away one after the other, not their sum",
     "op o 10 1797 2556.266 10 5\nop a 10 1798.325 200.8 11 6\nop b 10 2001.986696 1.61 12 7\nop c 10 3000.7 10 13 8\n",
     "3 o 2 5\n", "0 process ctrl=3\n1 thread ctrl=0\n2 o ctrl=1 2556.266/2343.8560000000007@1797 dep=-\n"},
    {"of two equal intervals the first is all but empty",
     "step 4203669604000.5 900.25\nop o 10 4203669604595.407 340.024 10 5\nop c 10 4203669604595.407 340.024 11 6\n",
     "3 o 2 5\n4 c 3 6\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 o ctrl=1 340.024/7.42187500009095e-05@4203669604595.407 dep=-\n"
     "3 c ctrl=2 340.024/340.024@4203669604595.407 dep=-\n"},
    {"nested and touching children are subtracted once, a child that starts with its parent not at all",
     "op p 10 1000 100 1 1\nop a 10 1010 20 2 2\nop b 10 1015 10 3 3\nop c 10 1030 10 4 4\nop d 10 1060 10 5 5\n"
     "op q 10 2000 50 6 6\nop e 10 2000 20 7 7\n",
     "3 p 2 1\n4 a 3 2\n5 q 2 6\n6 e 5 7\n",
     "0 process ctrl=6\n1 thread ctrl=0\n2 p ctrl=1 100/60@1000 dep=-\n3 a ctrl=2 20/10@1010 dep=-\n"
     "4 q ctrl=1 50/50@2000 dep=-\n5 e ctrl=4 20/20@2000 dep=-\n"},
    {"operators that share an external id each get all its kernels",
     "step 1000 900\nop a 10 1100 50 10 5\ncall cudaLaunchKernel 10 1110 5 10 100\nkernel k 7 1150 30 10 100\n"
     "op b 10 1200 50 10 6\ncall cudaLaunchKernel 10 1210 5 10 101\nkernel l 7 1250 30 10 101\n",
     "3 a 2 5\n4 b 2 6\n",
     "0 process ctrl=8\n1 thread ctrl=0\n2 a ctrl=1 50/50@1100 dep=-\n3 k ctrl=2 30/30@1150 dep=- kernel stream=7\n"
     "4 l ctrl=2 30/30@1250 dep=- kernel stream=7\n5 b ctrl=1 50/50@1200 dep=-\n"
     "6 k ctrl=5 30/30@1150 dep=- kernel stream=7\n7 l ctrl=5 30/30@1250 dep=- kernel stream=7\n"},
    {"an external id that no operator has goes to the nearest one started, though it has ended",
     "step 1000 900\nop a 10 1100 10 10 5\ncall cudaLaunchKernel 10 1150 5 77 100\nkernel k 7 1160 30 77 100\n",
     "3 a 2 5\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 a ctrl=1 10/10@1100 dep=-\n3 k ctrl=2 30/30@1160 dep=- kernel stream=7\n"},
    {"copies are linked, sets are not",
     "step 1000 900\nop a 10 1100 50 10 5\ncall cudaMemcpyAsync 10 1110 5 10 100\ncopy Memcpy~HtoD 7 1150 30 10 100\n"
     "call cudaMemsetAsync 10 1120 5 10 101\nset Memset 7 1190 3 10 101\n",
     "3 a 2 5\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 a ctrl=1 50/50@1100 dep=-\n3 Memcpy~HtoD ctrl=2 30/30@1150 dep=- gpu_memcpy "
     "stream=7\n"},
    {"a stream sync on the critical path makes the next operator wait for the kernel",
     "step 1000 900\nop aten::mm 10 1100 30 10 5\ncall cudaLaunchKernel 10 1105 5 10 100\nkernel gemm 7 1150 200 10 "
     "100\n"
     "op aten::item 10 1200 200 11 6\ncall cudaStreamSynchronize 10 1210 150 11 101\nsync Stream~Sync 7 1212 145 11 "
     "101\n"
     "op aten::add 10 1420 30 12 7\ncall cudaLaunchKernel 10 1425 5 12 102\nkernel add_k 7 1440 7 12 102\n",
     "3 aten::mm 2 5\n4 aten::item 2 6\n5 aten::add 2 7\n",
     "0 process ctrl=7\n1 thread ctrl=0\n2 aten::mm ctrl=1 30/30@1100 dep=-\n3 gemm ctrl=2 200/200@1150 dep=- kernel "
     "stream=7\n4 aten::item ctrl=1 200/200@1200 dep=-\n5 aten::add ctrl=1 30/30@1420 dep=- sync=3\n"
     "6 add_k ctrl=5 7/7@1440 dep=- kernel stream=7\n"},
    {"after a pause of more than 1 ms a thread comes after what another did last",
     "step 900 9000\nop a0 10 1000 100 10 5\nop b0 11 1200 100 11 6\nop b1 11 1301 50 12 7\nop a1 10 2500 10 13 8\n"
     "op a2 10 2520 10 14 9\ncall cudaLaunchKernel 10 2522 3 14 50\nkernel k 7 2530 5 14 50\n",
     "3 a0 2 5\n4 thread 1 0\n5 b0 4 6\n6 b1 4 7\n7 a1 2 8\n8 a2 2 9\n",
     "0 process ctrl=9\n1 thread ctrl=0\n2 a0 ctrl=1 100/100@1000 dep=-\n3 thread ctrl=0\n4 b0 ctrl=3 100/100@1200 "
     "dep=2\n"
     "5 b1 ctrl=3 50/50@1301 dep=2\n6 a1 ctrl=1 10/10@2500 dep=5\n7 a2 ctrl=1 10/10@2520 dep=5\n"
     "8 k ctrl=7 5/5@2530 dep=5 kernel stream=7\n"},
    {"of two that started last together, it is that of the thread whose operators were seen first",
     "call cudaEventRecord 11 950 5 1 90\nop b 12 1200 10 11 6\nop c 11 1200 10 12 7\nop a 10 3000 10 13 8\n",
     "3 b 2 6\n4 c 2 7\n5 a 2 8\n",
     "0 process ctrl=5\n1 thread ctrl=0\n2 b ctrl=1 10/10@1200 dep=-\n3 c ctrl=1 10/10@1200 dep=-\n"
     "4 a ctrl=1 10/10@3000 dep=2\n"},
    {"a group without a name is a group",
     "step 1000 900\nop a 10 1100 100 10 5\ncall cudaLaunchKernel 10 1120 5 10 100\n"
     "kernel ncclDevKernel_AllReduce 20 1150 30 10 100 -\n",
     "3 a 2 5\n",
     "0 process ctrl=4\n1 thread ctrl=0\n2 a ctrl=1 100/100@1100 dep=-\n"
     "3 ncclDevKernel_AllReduce ctrl=2 30/30@1150 dep=- kernel stream=20 pg=\n"},
    {"an old profiler's \"external id\" is none, and its kernel is linked without one",
     "step 1000 900\nop a 10 1100 50 10 5\nop b 10 1160 20 11 6\ncall cudaLaunchKernel 10 1165 5 10 100\n"
     "old k 7 1170 30 10 100\n",
     "3 a 2 5\n4 b 2 6\n",
     "0 process ctrl=5\n1 thread ctrl=0\n2 a ctrl=1 50/50@1100 dep=-\n3 b ctrl=1 20/20@1160 dep=-\n"
     "4 k ctrl=3 30/30@1170 dep=- kernel stream=7\n"},
    {"nodes that do not descend from the process are kept but not matched", "op a 10 1000 10 10 5\n", "3 a 99 5\n",
     "0 process ctrl=3\n1 thread ctrl=0\n2 a ctrl=4\n"},
};

/* ---- inputs ---- */

static void put_name(FILE *out, const char *name)
{
    for (; *name != '\0'; name++) {
        fputc(*name == '~' ? ' ' : *name, out);
    }
}

static void put_event(FILE *out, const char *line)
{
    static const struct {
        const char *word, *cat, *place;
    } kinds[] = {{"op", "cpu_op", NULL},          {"note", "user_annotation", NULL}, {"call", "cuda_runtime", NULL},
                 {"driver", "cuda_driver", NULL}, {"kernel", "kernel", "stream"},    {"copy", "gpu_memcpy", "stream"},
                 {"set", "gpu_memset", "stream"}, {"sync", "cuda_sync", "stream"},   {"old", "kernel", "stream"}};
    char w[8][64] = {""};
    int words = sscanf(line, "%63s %63s %63s %63s %63s %63s %63s %63s", w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
    if (strcmp(w[0], "step") == 0) {
        fprintf(out,
                "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":10,"
                "\"ts\":%s,\"dur\":%s,\"args\":{\"External id\":1}}",
                w[1], w[2]);
        return;
    }
    CHECK(words >= 7, "\"%s\" is no event", line);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (strcmp(w[0], kinds[i].word) != 0) {
            continue;
        }
        bool op = i < 2;
        fprintf(out, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"", kinds[i].cat);
        put_name(out, w[1]);
        fprintf(out, "\",\"pid\":%d,\"tid\":%s,\"ts\":%s,\"dur\":%s,\"args\":{\"%s\":%s", kinds[i].place == NULL, w[2],
                w[3], w[4], strcmp(w[0], "old") == 0 ? "external id" : "External id", w[5]);
        fprintf(out, ",\"%s\":%s", op ? "Record function id" : "correlation", w[6]);
        if (kinds[i].place != NULL)
            fprintf(out, ",\"%s\":%s", kinds[i].place, w[2]);
        if (words == 8)
            fprintf(out, ",\"Process Group Name\":\"%s\"", strcmp(w[7], "-") == 0 ? "" : w[7]);
        fputs("}}", out);
        return;
    }
    CHECK(false, "\"%s\" is no event", line);
}

static void put_node(FILE *out, const char *line)
{
    char id[64], name[64], parent[64], rf[64];
    CHECK(sscanf(line, "%63s %63s %63s %63s", id, name, parent, rf) == 4, "\"%s\" is no node", line);
    fprintf(out, "{\"id\":%s,\"name\":\"", id);
    put_name(out, name);
    fprintf(out,
            "\",\"ctrl_deps\":%s,\"inputs\":{\"values\":[],\"shapes\":[],\"types\":[]},"
            "\"outputs\":{\"values\":[],\"shapes\":[],\"types\":[]},"
            "\"attrs\":[{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":%s}]}",
            parent, rf);
}

static void each_line(FILE *out, const char *lines, void (*put)(FILE *, const char *))
{
    char line[LINE_ROOM];
    for (bool first = true; *lines != '\0'; first = false) {
        size_t length = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        fputs(first ? "" : ",", out);
        put(out, line);
        lines += length + (lines[length] == '\n');
    }
}

static void path_of(const char *name, char path[64])
{
    snprintf(path, 64, "%s/%s", folder, name);
}

static FILE *create(const char *name)
{
    char path[64];
    path_of(name, path);
    FILE *out = fopen(path, "w");
    CHECK(out != NULL, "%s can be written", path);
    return out;
}

static void write_inputs(const struct link_case *c)
{
    FILE *out = create("device.json");
    fputs("{\"traceEvents\":[", out);
    each_line(out, c->device, put_event);
    fputs("]}", out);
    fclose(out);
    out = create("host.json");
    fputs("{\"schema\":\"1.0.2-chakra.0.0.4\",\"pid\":7,\"time\":\"2024-01-02 03:04:05\",\"start_ts\":11,\"nodes\":[",
          out);
    each_line(out, "1 process 0 0\n2 thread 1 0\n", put_node);
    fputs(",", out);
    each_line(out, c->host, put_node);
    fputs("],\"finish_ts\":22}", out);
    fclose(out);
}

/* ---- linking ---- */

static enum orr_status link_folder(struct notes *notes, struct mem *mem, struct link_compat_summary *summary,
                                   struct orr_error *err)
{
    char host_path[64], device_path[64], out_path[64];
    struct host_trace *host = NULL;
    struct kineto_trace *device = NULL;
    path_of("host.json", host_path);
    path_of("device.json", device_path);
    path_of("hdt.json", out_path);
    unlink(out_path);
    enum orr_status status = host_read(host_path, mem, notes, &host, err);
    if (status == ORR_OK)
        status = kineto_read(device_path, mem, notes, &device, err);
    if (status == ORR_OK)
        status = link_compat(host, device, out_path, IO_OUTFILE_PLAIN, notes, summary, err);
    host_free(host);
    kineto_free(device);
    return status;
}

static void put_real(FILE *out, const json_t *value)
{
    char text[JSON_REAL_ROOM];
    if (json_is_integer(value)) {
        fprintf(out, "%lld", (long long)json_integer_value(value));
        return;
    }
    json_real_repr(json_real_value(value), text);
    fputs(text, out);
}

static void describe(FILE *out, const json_t *node)
{
    const json_t *sync = json_object_get(node, "sync_dep");
    fprintf(out, "%lld ", (long long)json_integer_value(json_object_get(node, "id")));
    for (const char *at = json_string_value(json_object_get(node, "name")); *at != '\0'; at++)
        fputc(*at == ' ' ? '~' : *at, out);
    fprintf(out, " ctrl=%lld", (long long)json_integer_value(json_object_get(node, "ctrl_deps")));
    if (json_object_get(node, "ts") != NULL) {
        fputc(' ', out);
        put_real(out, json_object_get(node, "inclusive_dur"));
        fputc('/', out);
        put_real(out, json_object_get(node, "exclusive_dur"));
        fputc('@', out);
        put_real(out, json_object_get(node, "ts"));
        const json_t *dep = json_object_get(node, "inter_thread_dep");
        if (json_is_null(dep))
            fputs(" dep=-", out);
        else
            fprintf(out, " dep=%lld", (long long)json_integer_value(dep));
    }
    if (json_object_get(node, "cat") != NULL)
        fprintf(out, " %s stream=%lld", json_string_value(json_object_get(node, "cat")),
                (long long)json_integer_value(json_object_get(node, "stream")));
    if (json_object_get(node, "pg_name") != NULL)
        fprintf(out, " pg=%s", json_string_value(json_object_get(node, "pg_name")));
    for (size_t i = 0; i < json_array_size(sync); i++)
        fprintf(out, "%s%lld", i == 0 ? " sync=" : ",", (long long)json_integer_value(json_array_get(sync, i)));
    fputc('\n', out);
}

static void describe_all(char text[TEXT_MAX])
{
    char path[64];
    path_of("hdt.json", path);
    json_t *document = json_load_file(path, 0, NULL);
    FILE *out = fmemopen(text, TEXT_MAX, "w");
    const json_t *nodes = json_object_get(document, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++)
        describe(out, json_array_get(nodes, i));
    fclose(out);
    json_decref(document);
}

static void small_traces_are_linked_as_chakra_links_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mem mem = {0};
        struct notes notes;
        struct orr_error err = {0};
        struct link_compat_summary summary = {0};
        char got[TEXT_MAX] = "";
        notes_init(&notes, &mem, false);
        write_inputs(&cases[i]);
        CHECK_OK(link_folder(&notes, &mem, &summary, &err), &err);
        describe_all(got);
        CHECK(strcmp(got, cases[i].want) == 0, "%s: got\n%swant\n%s", cases[i].about, got, cases[i].want);
        notes_free(&notes);
        CHECK_U64(mem.used, 0, "%s: all memory is given back", cases[i].about);
    }
}

static void the_document_is_written_as_python_dumps_it(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct link_compat_summary summary = {0};
    char got[TEXT_MAX] = "";
    FILE *out = create("device.json");
    fputs("{\"traceEvents\":[]}", out);
    fclose(out);
    out = create("host.json");
    fputs("{\"schema\":\"1.0.2-chakra.0.0.4\",\"nodes\":[{\"id\":1,\"name\":\"\\u00e9\\\"\\ud83d\\ude00\\u007f\\n\","
          "\"ctrl_deps\":0,\"inputs\":{\"values\":[1e-7,1E16,-0.0,[],{},true,null,18446744073709551616],\"shapes\":[[2]"
          "]},"
          "\"outputs\":{}}],\"more\":[1,\"x\"]}",
          out);
    fclose(out);
    notes_init(&notes, &mem, false);
    CHECK_OK(link_folder(&notes, &mem, &summary, &err), &err);
    notes_free(&notes);
    char path[64];
    path_of("hdt.json", path);
    FILE *in = fopen(path, "r");
    got[fread(got, 1, sizeof got - 1, in)] = '\0';
    fclose(in);
    CHECK_TEXT(got, "{\n"
                    "    \"schema\": \"1.0.2-chakra.0.0.4\",\n"
                    "    \"nodes\": [\n"
                    "        {\n"
                    "            \"id\": 0,\n"
                    "            \"name\": \"\\u00e9\\\"\\ud83d\\ude00\\u007f\\n\",\n"
                    "            \"ctrl_deps\": 1,\n"
                    "            \"inputs\": {\n"
                    "                \"values\": [\n"
                    "                    1e-07,\n"
                    "                    1e+16,\n"
                    "                    -0.0,\n"
                    "                    [],\n"
                    "                    {},\n"
                    "                    true,\n"
                    "                    null,\n"
                    "                    18446744073709551616\n"
                    "                ],\n"
                    "                \"shapes\": [\n"
                    "                    [\n"
                    "                        2\n"
                    "                    ]\n"
                    "                ]\n"
                    "            },\n"
                    "            \"outputs\": {}\n"
                    "        }\n"
                    "    ],\n"
                    "    \"more\": [\n"
                    "        1,\n"
                    "        \"x\"\n"
                    "    ]\n"
                    "}");
}

static void two_launches_of_one_correlation_are_an_error(void **state)
{
    (void)state;
    static const struct link_case twice = {
        NULL, "op a 10 1100 50 10 5\ncall cudaLaunchKernel 10 1110 5 10 100\ncall cudaLaunchKernel 10 1120 5 10 100\n",
        "3 a 2 5\n", NULL};
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct link_compat_summary summary = {0};
    char path[64];
    notes_init(&notes, &mem, false);
    write_inputs(&twice);
    CHECK_STATUS(link_folder(&notes, &mem, &summary, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "correlation 100 belongs to two launches, traceEvents[1] and [2]");
    notes_free(&notes);
    path_of("hdt.json", path);
    CHECK(access(path, F_OK) != 0, "nothing is written on failure");
}

static void a_host_trace_without_a_process_node_is_an_error(void **state)
{
    (void)state;
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct link_compat_summary summary = {0};
    FILE *out = create("device.json");
    fputs("{\"traceEvents\":[]}", out);
    fclose(out);
    out = create("host.json");
    fputs("{\"schema\":\"1.0.2-chakra.0.0.4\",\"nodes\":[", out);
    put_node(out, "5 a 5 1");
    fputs("]}", out);
    fclose(out);
    notes_init(&notes, &mem, false);
    CHECK_STATUS(link_folder(&notes, &mem, &summary, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "no node with id 1");
    notes_free(&notes);
}

static void where_hta_fails_the_link_is_made_without_sync_dependencies(void **state)
{
    (void)state;
    static const struct link_case no_step = {
        NULL, "op a 10 1100 50 10 5\ncall cudaStreamSynchronize 10 1110 5 10 100\nsync Stream~Sync 7 1111 3 10 100\n",
        "3 a 2 5\n", NULL};
    struct mem mem = {0};
    struct notes notes;
    struct orr_error err = {0};
    struct link_compat_summary summary = {0};
    notes_init(&notes, &mem, false);
    write_inputs(&no_step);
    CHECK_OK(link_folder(&notes, &mem, &summary, &err), &err);
    CHECK_U64(notes.count, 1, "it is said once");
    CHECK_CONTAINS(notes.lines[0], "no ProfilerStep in the device trace");
    CHECK_U64(summary.matched, 1, "the rest is linked");
    notes_free(&notes);
}

static void count_warning(void *context, const char *line)
{
    CHECK(line[0] != '\0', "a warning says something");
    ++*(unsigned *)context;
}

static void the_public_function_links_and_packs_by_the_name(void **state)
{
    (void)state;
    char host[64], device[64], out[64];
    unsigned warnings = 0;
    unsigned char magic[2] = {0};
    struct orr_error err = {0};
    struct orr_link_summary summary = {0};
    struct orr_notices notices = {.warn = count_warning, .context = &warnings};
    path_of("host.json", host);
    path_of("device.json", device);
    path_of("hdt.json.gz", out);
    write_inputs(&cases[2]); /* with an orphan */
    struct orr_link_options options;
    orr_link_options_init(&options);
    options.host = host;
    options.device = device;
    options.output = out;
    options.compat_chakra = true;
    CHECK_OK(orr_trace_link(&options, &notices, &summary, &err), &err);
    CHECK_U64(warnings, 1, "the orphan is told");
    CHECK_U64(summary.unlinked, 1, "and counted");
    FILE *in = fopen(out, "rb");
    CHECK_U64(fread(magic, 1, 2, in), 2, "something is written");
    fclose(in);
    CHECK(magic[0] == 0x1f && magic[1] == 0x8b, "as gzip");
    notices.strict = true;
    CHECK_STATUS(orr_trace_link(&options, &notices, &summary, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "1 kernels or copies dropped");
    options.device = NULL;
    CHECK_STATUS(orr_trace_link(&options, NULL, &summary, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "needs a host trace and a device trace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_traces_are_linked_as_chakra_links_them),
        cmocka_unit_test(the_document_is_written_as_python_dumps_it),
        cmocka_unit_test(two_launches_of_one_correlation_are_an_error),
        cmocka_unit_test(a_host_trace_without_a_process_node_is_an_error),
        cmocka_unit_test(where_hta_fails_the_link_is_made_without_sync_dependencies),
        cmocka_unit_test(the_public_function_links_and_packs_by_the_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
