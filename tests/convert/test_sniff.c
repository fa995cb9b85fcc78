/* SPDX-License-Identifier: Apache-2.0 */
/* A file's format is told by what stands in it; what is not known is not guessed. */
#include "convert/sniff.h"

#include "tests/check.h"
#include "tests/folder.h"

static const struct {
    enum orr_format format;
    const char *text;
} rows[] = {
    {ORR_FORMAT_PYTORCH, "{\n  \"schema\": \"1.1.1-chakra.0.0.4\", \"pid\": 573,\n  \"nodes\": [\n"},
    {ORR_FORMAT_PYTORCH, "{\n  \"schema\": \"1.1.1-chakra.0.0.4\", \"start_ts\": 1,\n  \"orrery\": {\"version\": 1, "
                         "\"lanes\": [\n"}, /* more threads than are looked at, then the nodes */
    {ORR_FORMAT_TENSORFLOW,
     "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\","
     "\"args\":{\"name\":\"/device:GPU:0\"}}"},
    {ORR_FORMAT_HOROVOD, "[\n{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0},\n{\"ph\": \"B\", \"name\": "
                         "\"NEGOTIATE_ALLREDUCE\", \"ts\": 100, \"pid\": 1}"},
    {ORR_FORMAT_GOAL, "// made by hand\n/* two\n lines */\nnum_ranks 2\nrank 0 {\n"},
    {ORR_FORMAT_TEXT, "HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 4\n1\n"},
    {ORR_FORMAT_TEXT, "\xef\xbb\xbf"
                      "DATA\n2\n"},
    {ORR_FORMAT_CSV, "id,name,duration_us,deps\n1,a,3,\n"},
    {ORR_FORMAT_CSV, "op;time\na;3\n"},
    {ORR_FORMAT_JSON, "{\"workload_graph\": [{\"Id\": 1}]}"},
    {ORR_FORMAT_JSON, "{\n  \"attr\": []\n}{\n  \"id\": \"1\"\n}"},
    {ORR_FORMAT_AUTO, "{\"deviceProperties\": [], \"traceEvents\": [{\"cat\": \"cpu_op\"}]}"},
    {ORR_FORMAT_AUTO, "{\"traceEvents\": []}"},
    {ORR_FORMAT_AUTO, "{\"a\": 1}"},
    {ORR_FORMAT_AUTO, "[1, 2, 3]"},
    {ORR_FORMAT_AUTO, "some words\n"},
    {ORR_FORMAT_AUTO, "DATAX\n"},
    {ORR_FORMAT_AUTO, "/* never closed"},
    {ORR_FORMAT_AUTO, " \n"},
    {ORR_FORMAT_AUTO, ""},
};

static void content_tells_the_format(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *hint = NULL;
        CHECK_U64(convert_sniff_bytes(rows[i].text, strlen(rows[i].text), &hint), rows[i].format, "%s", rows[i].text);
    }
}

static void sniff_file(const char *text, enum orr_status want, enum orr_format *format, struct orr_error *err)
{
    char path[64];
    struct mem mem = {0};
    snprintf(path, sizeof path, "%s/input", folder);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    CHECK_STATUS(convert_sniff(path, &mem, format, err), want);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void a_device_trace_alone_is_refused_with_the_way_to_use_it(void **state)
{
    (void)state;
    enum orr_format format = ORR_FORMAT_CSV;
    struct orr_error err = {0};
    sniff_file("{\"deviceProperties\": [], \"traceEvents\": [{\"cat\": \"cpu_op\"}]}", ORR_EINVAL, &format, &err);
    CHECK_CONTAINS(err.text, "PyTorch device trace");
    CHECK_CONTAINS(err.text, "orrery trace import");
    CHECK_U64(format, ORR_FORMAT_CSV, "an output is written only on success");
}

static void what_is_not_recognised_lists_the_formats(void **state)
{
    (void)state;
    enum orr_format format = ORR_FORMAT_AUTO;
    struct orr_error err = {0};
    sniff_file("some words\n", ORR_EINVAL, &format, &err);
    CHECK_CONTAINS(err.text, "parameter 'from' names it: " ORR_FORMAT_LIST);
}

static void simais_keys_make_a_text_simais(void **state)
{
    (void)state;
    enum orr_format format = ORR_FORMAT_AUTO;
    struct orr_error err = {0};
    sniff_file("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8\n1\n",
               ORR_OK, &format, &err);
    CHECK_U64(format, ORR_FORMAT_SIMAI, "ep: and pp: are SimAI's");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_tells_the_format),
        cmocka_unit_test(a_device_trace_alone_is_refused_with_the_way_to_use_it),
        cmocka_unit_test(what_is_not_recognised_lists_the_formats),
        cmocka_unit_test(simais_keys_make_a_text_simais),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
