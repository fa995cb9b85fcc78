/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery simai` and `orrery calc` as users type them: SimAI's spellings, its files, its name; what is refused, and
 * how. */
#include "tests/cli/program.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static void write_workload(void)
{
    program_write_text("w.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 1 ga: 4 "
                                "all_gpus: 128 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 8388608\n2\n"
                                "attention -1 500000 ALLREDUCE 33554432 500000 ALLREDUCE 33554432 500000 NONE 0 100\n"
                                "grad_norm -1 0 NONE 0 0 NONE 0 0 REDUCESCATTER 1073741824 100\n");
    program_write_text("ep3.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 3\n1\n"
                                  "moe -1 1 ALLTOALL_EP 33554432 1 NONE 0 1 NONE 0 100\n");
    program_write_text("busbw.yaml", "test\nTP:\nallreduce,: 300\nDP:\nreducescatter,: 45\nPP:\nbusbw: 47.5");
}

/* 33554432 bytes twice at 360 GB/s, 7/8 of them: 151 us a collective; 1 GiB at 48.5 GB/s, 7/8 of it: 18041 us. */
static void simais_spellings_are_taken_and_its_table_is_written(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    const struct program_result *result =
        program_run("simai analytical -w w.txt -g 128 -nv 360 -nic 48.5 -n_p_s 8 -g_p_s 8 -r example- -v 1 -l ja");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "one iteration on 128 GPUs (TP 8, PP 2, DP 8, EP 1; 4 micro-batches)");
    CHECK_CONTAINS(result->out, "Wrote results/example-EndToEnd.csv.");
    CHECK_CONTAINS(result->err, "no tables of achieved bandwidth");
    const char *table = program_read("results/example-EndToEnd.csv", NULL);
    CHECK_CONTAINS(table, "attention,Analytical_test,500,500,500,152,0,152,152,205.72,360.00,0,0.00,0.00,152,");
    CHECK_CONTAINS(table, "grad_norm,Analytical_test,0,0,0,0,18041,0,");
    const char *chart = program_read("results/example-chart.html", NULL);
    CHECK_CONTAINS(chart, "合計時間");
    CHECK(strstr(chart, "https") == NULL && strstr(chart, "src=") == NULL, "the page needs nothing but itself");
    CHECK_EXIT(program_run("simai analytical --workload w.txt --gpus 128 --nvlink 360 --nic_busbw 48.5 "
                           "--nic_per_server 8 --gpus-per-server 8 -r_f sub -r long-"),
               0);
    CHECK(program_exists("results/sub/long-EndToEnd.csv"), "in a folder of its own");
}

static void bandwidths_may_have_units(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    static const char line[] = "simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nic 50 -nv ";
    static const char *const rates[] = {"360", "360GiB/s", "3092.37645312Gbps"};
    char first[4096] = "";
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        char whole[160];
        (void)snprintf(whole, sizeof whole, "%s%s", line, rates[i]);
        const struct program_result *result = program_run(whole);
        CHECK_EXIT(result, 0);
        if (i == 0) {
            (void)snprintf(first, sizeof first, "%.*s", (int)sizeof first - 1, result->out);
        }
        CHECK(strncmp(result->out, first, sizeof first - 1) == 0, "%s", whole);
    }
    const struct program_result *result = program_run("simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360Gpbs");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "did you mean");
}

static void a_file_of_bandwidths_is_enough(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    const struct program_result *result =
        program_run("simai analytical -w w.txt -g 128 -g_p_s 8 -r test- -busbw busbw.yaml -pp_o 0 -o rows.csv");
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->err, "");
    /* 8 MiB at 47.5 GB/s: 164 us, ahead and back, for every pair of micro-batches. */
    CHECK_CONTAINS(program_read("rows.csv", NULL), "test-, 19444 (");
    CHECK_CONTAINS(program_read("rows.csv", NULL), ", 658 (");
    program_write_text("less.yaml", "TP:\nallreduce: 300\n");
    result = program_run("simai analytical -w w.txt -g 128 -g_p_s 8 --bus-bandwidth less.yaml");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "w.txt:4: row \"grad_norm\" needs the bandwidth of reducescatter in group DP");
}

static void simais_name_gives_simais_numbers(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    CHECK(symlink(getenv("ORRERY"), "SimAI_analytical") == 0, "a link");
    const struct program_result *result = program_run_as(
        "./SimAI_analytical", "-w w.txt -g 128 -nv 360 -nic 48.5 -n_p_s 8 -g_p_s 8 -r gold- -pp_o 0.5", NULL, NULL);
    CHECK_EXIT(result, 0);
    /* The bytes of the pipeline over the overlap, as SimAI has it. */
    CHECK_CONTAINS(program_read("results/gold-EndToEnd.csv", NULL), "gold-, 18041 (");
    CHECK_CONTAINS(program_read("results/gold-EndToEnd.csv", NULL), ", 62500 (");
    CHECK_CONTAINS(program_read("results/gold-EndToEnd.csv", NULL), ",152,205.72,360.00,0,nan,0.00,152,");
    program_write_text("m-world_size64-tp8-pp2-ep1-gbs32-mbs1-seq1.txt", program_read("w.txt", NULL));
    CHECK_EXIT(program_run_as("./SimAI_analytical",
                              "-w m-world_size64-tp8-pp2-ep1-gbs32-mbs1-seq1.txt -g 64 -nv 360 -nic 48.5 -n_p_s 8 "
                              "-g_p_s 8",
                              NULL, NULL),
               0);
    CHECK(program_exists("results/m-tp8-pp2-dp4-ga8-ep1-NVL8-388.0G-DP0.0-EndToEnd.csv"), "SimAI's name for it");
}

static double number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    CHECK(at != NULL, "%s in %s", word, text);
    return strtod(at + strlen(word), NULL);
}

/* Four stages of eight micro-batches of two layers: what is counted and what is run, by both schedules. */
static void counting_and_running_a_pipeline_agree(void **state)
{
    (void)state;
    program_enter();
    char text[8192];
    int used = snprintf(text, sizeof text,
                        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 4 "
                        "vpp: 2 ga: 8 all_gpus: 32 checkpoints: 0 checkpoint_initiates: 0 pp_comm: "
                        "1048576\n24\n");
    for (unsigned i = 0; i < 8; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "embedding_layer -1 50000 NONE 0 1 NONE 0 1 NONE 0 0\n"
                         "mlp -1 700000 ALLGATHER 4194304 900000 REDUCESCATTER 4194304 600000 NONE 0 0\n"
                         "mlp -1 700000 ALLGATHER 4194304 900000 REDUCESCATTER 4194304 600000 NONE 0 0\n");
    program_write_text("p.txt", text);
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\n");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 32 -psn 8 -nvbw 2966Gbps -o sx"), 0);
    static const char *const schedules[] = {"1f1b", "interleaved"};
    double totals[2];
    for (size_t i = 0; i < 2; i++) {
        char line[200];
        snprintf(line, sizeof line, "simai simulate -w p.txt -n sx -c SimAI.conf -q --send-latency 1us --schedule %s",
                 schedules[i]);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        double run = number_behind(result->out, "ms  (") / 1000;
        snprintf(line, sizeof line,
                 "simai analytical -w p.txt -g 32 -g_p_s 8 -n_p_s 8 -g_type H100 -o r.csv --schedule %s", schedules[i]);
        CHECK_EXIT(program_run(line), 0);
        const char *rows = program_read("r.csv", NULL);
        const char *end = strstr(rows, "\nlayer_name");
        CHECK(end != NULL, "the sums' line");
        while (end[-1] != ' ')
            end--;
        totals[i] = strtod(end, NULL);
        CHECK(fabs(totals[i] / run - 1) < 0.03, "%s: counted %f us, run %f us", schedules[i], totals[i], run);
    }
    CHECK(totals[1] < 0.9 * totals[0], "chunks shrink the bubble");
    CHECK_EXIT(program_run("simai simulate -w p.txt -n sx -c SimAI.conf --compat simai --schedule interleaved"), 2);
}

/* SimAI's README runs in a folder with these files; -busbw, which SimAI itself refuses, counts as documented. */
static void simais_readme_lines_run_as_they_stand(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    (void)unlink("SimAI_analytical"); /* of another test */
    CHECK(symlink(getenv("ORRERY"), "SimAI_analytical") == 0 && symlink(getenv("ORRERY"), "SimAI_simulator") == 0,
          "links");
    CHECK_EXIT(program_run_as("./SimAI_analytical", "-w w.txt -g 128 -g_p_s 8 -r test- -busbw busbw.yaml", NULL, NULL),
               0);
    CHECK_CONTAINS(program_read("results/test-EndToEnd.csv", NULL), "test-, 19444 (");
    program_write_text("m.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 "
                                "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0\n1\n"
                                "embedding_layer -1 1000 ALLREDUCE 1048576 1 NONE 0 1 NONE 0 1");
    program_write_text("SimAI.conf",
                       "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 1\nL2_ACK_INTERVAL 1\n"
                       "FCT_OUTPUT_FILE /no/such/folder/fct.txt\nPFC_OUTPUT_FILE /no/such/folder/pfc.txt\n");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 8 -psn 1"), 0);
    CHECK(setenv("AS_SEND_LAT", "3", 1) == 0 && setenv("AS_NVLS_ENABLE", "1", 1) == 0, "the environment");
    const struct program_result *result = program_run_as(
        "./SimAI_simulator", "-t 16 -w m.txt -n ./Spectrum-X_8g_8gps_400Gbps_H100 -c SimAI.conf", NULL, NULL);
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "/no/such/folder/fct.txt: cannot be written");
    CHECK_CONTAINS(result->err, "it is left out");
    CHECK(program_exists("ncclFlowModel_EndToEnd.csv"), "SimAI's table");
    CHECK(setenv("AS_LOG_LEVEL", "ERROR", 1) == 0, "the environment");
    result = program_run_as("./SimAI_simulator", "-t 16 -w m.txt -n ./Spectrum-X_8g_8gps_400Gbps_H100 -c SimAI.conf",
                            NULL, NULL);
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->err, "");
    CHECK(unsetenv("AS_SEND_LAT") == 0 && unsetenv("AS_NVLS_ENABLE") == 0 && unsetenv("AS_LOG_LEVEL") == 0, "put back");
}

#define MICRO_16                                                                                                       \
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 16 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 16 checkpoints: " \
    "0 checkpoint_initiates: 0\n1\nembedding_layer -1 1000 ALLREDUCE 1048576 1 NONE 0 1 NONE 0 1"

static const struct {
    const char *variable;
    int exit_code;
    const char *said;
} environments[] = {
    {"AS_LOG_LEVEL=warning", 0, ""},
    {"AS_LOG_LEVEL=4", 0, ""},
    {"AS_LOG_LEVEL=LOUD", 2, "AS_LOG_LEVEL: \"LOUD\" is none of DEBUG, INFO, WARNING, ERROR, UNKNOWN"},
    {"AS_SEND_LAT=7200ns", 0, ""},
    {"AS_SEND_LAT=7200", 0, "for the nanoseconds of SimAI 1.7 write the unit"},
    {"AS_NVLSTREE_ENABLE=1", 0, ""},
    {"AS_NVLSTREE_ENABLE=yes", 2, "AS_NVLSTREE_ENABLE"},
};

static void simais_environment_is_read(void **state)
{
    (void)state;
    program_enter();
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\n");
    program_write_text("m.txt", MICRO_16);
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 16 -psn 2 -o sx"), 0);
    for (size_t i = 0; i < COUNT_OF(environments); i++) {
        const struct program_result *result =
            program_run_as(NULL, "simai simulate -w m.txt -n sx -c SimAI.conf", environments[i].variable, NULL);
        CHECK(result->exit_code == environments[i].exit_code, "%s: exit code %d, %s", environments[i].variable,
              result->exit_code, result->err);
        CHECK_CONTAINS(result->err, environments[i].said);
    }
}

/* A group on two servers is an NVLS tree with either variable; a ring takes longer. */
static void an_nvls_tree_can_be_asked_for_by_itself(void **state)
{
    (void)state;
    program_enter();
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\n");
    program_write_text("m.txt", MICRO_16);
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 16 -psn 2 -o sx"), 0);
    static const char line[] = "simai simulate -w m.txt -n sx -c SimAI.conf";
    char *nvls = strdup(program_run_as(NULL, line, "AS_NVLS_ENABLE=1", NULL)->out);
    CHECK_TEXT(program_run_as(NULL, line, "AS_NVLSTREE_ENABLE=1", NULL)->out, nvls);
    CHECK(strcmp(program_run(line)->out, nvls) != 0, "a ring is something else");
    free(nvls);
}

#define TABLE_HEAD                                                                                                     \
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"

/* 1 GiB over 8 ranks of a server at 350 GB/s: 2.5 ms; 350 MiB to the next stage at 50 GB/s: 6.8 ms. */
static void aicbs_table_is_read_back_and_filled(void **state)
{
    (void)state;
    program_enter();
    program_write_text("t.csv",
                       "[rank0 ~ rank15]\n" TABLE_HEAD
                       "CommType.broadcast,CommGroup.tp_group,8,24,init,None,0,,None,None,None,1\n"
                       "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n"
                       "CommType.all_gather,CommGroup.tp_group,8,1073741824,fwd,None,None,,None,None,None,1\n"
                       "CommType.computation,None,None,((1 2 3) (3 4)),fwd,None,None,,None,None,None,1\n"
                       "CommType.isend,CommGroup.pp_group,1,367001600,fwd,None,None,send_next,None,None,None,1\n"
                       "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n");
    const struct program_result *result =
        program_run("simai analytical -w t.csv -g 16 -g_p_s 8 -n_p_s 8 -nv 350 -nic 50 -o filled.csv");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "communication of one iteration on 16 GPUs (TP 8");
    CHECK_CONTAINS(result->out, "Total: 9.336 ms, and 15.00 us to set up");
    const char *filled = program_read("filled.csv", NULL);
    CHECK_CONTAINS(filled, "[rank0 ~ rank15]\n" TABLE_HEAD);
    CHECK_CONTAINS(filled, "CommGroup.tp_group,8,1073741824,fwd,None,None,,2.500000,409.60,358.40,1\n");
    CHECK_CONTAINS(filled, "((1 2 3) (3 4)),fwd,None,None,,None,None,None,1\n");
    CHECK_CONTAINS(filled, "send_next,6.835937,0.00,0.00,1\n");
    program_write_text("bad.csv",
                       TABLE_HEAD "CommType.all_gossip,CommGroup.tp_group,8,24,init,None,0,,None,None,None,1\n");
    result = program_run("simai analytical -w bad.csv -g 16 -g_p_s 8 -n_p_s 8 -nv 350 -o filled2.csv");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "bad.csv:2: an unknown comm_type");
    CHECK(!program_exists("filled2.csv"), "no half of a table");
    CHECK_EXIT(
        program_run("gen aicb physical --model gpt-7b --num_layers 2 --world_size 8 --tensor_model_parallel_size 2 "
                    "--global_batch 8 -o own.csv -q"),
        0);
    CHECK_EXIT(program_run("simai analytical -w own.csv -g 8 -g_p_s 8 -n_p_s 8 -g_type MI300X"), 0);
}

static const struct {
    const char *line, *reason;
} wrong[] = {
    {"simai analytical -g 8", "missing --workload FILE"},
    {"simai analytical -w w.txt", "missing --gpus N"},
    {"simai analytical -w w.txt -g 128 -n_p_s 8 -nv 360", "missing --gpus-per-server N"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -nv 360", "missing --nics-per-server N"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8", "missing --nvlink GB/s (NVLink bandwidth) or --gpu-type"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -g_type B100", "\"B100\" is not one of A100"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 -nic_t x", "\"x\" is not one of cx6"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 -nic 50 -nic_t x", "\"x\" is not one of cx6"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 -g_type B100", "\"B100\" is not one of A100"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 -dp_o 2", "--dp-overlap: 2 is not a share"},
    {"simai analytical -w w.txt -g 100 -g_p_s 8 -n_p_s 8 -nv 360",
     "100 GPUs (--gpus) do not divide into TP 8 times PP 2"},
    {"simai analytical -w ep3.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360", "128 GPUs (--gpus) do not divide into EP 3"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 -o w.txt", "would replace the input w.txt"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 -v 1", "-v 1 needs a name"},
    {"simai analytical -w none.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360", "none.txt"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 360 --strict", "no tables of achieved bandwidth"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s", "--nics-per-server needs a value"},
    {"simai analytical -w w.txt -nvl 3", "unknown option -n"},
    {"simai analytical -w w.txt -g 128 -g_p_s 8 -n_p_s 8 -nv 0", "--nvlink: 0 is no bandwidth"},
    {"simai analytical -w w.txt -g 128 --schedule 2f2b", "--schedule: \"2f2b\" is not one of 1f1b, interleaved"},
    {"simai analytical -w w.txt -g 128 --compat aicb", "\"aicb\" is not one of none, simai"},
    {"simai simulate -n sx -c SimAI.conf", "missing --workload FILE"},
    {"simai simulate -w w.txt -c SimAI.conf", "missing --machine NAME (dgx-h100:2), or --topology FILE"},
    {"simai simulate -w w.txt -n sx", "missing --config FILE"},
    {"simai simulate -w w.txt -n sx --machine ring", "--machine and --topology both say what the machine is"},
    {"simai simulate -w w.txt -n sx -c none.conf --latency 1us", "--latency needs --machine"},
    {"simai simulate -w w.txt -n sx -c none.conf --backend unaware", "\"unaware\" is not one of packet, flow, auto"},
    {"simai simulate -w w.txt -n sx -c none.conf --cc dcqcn", "unknown option --cc"},
    {"simai simulate -w w.txt -n sx -c none.conf --memory-limit 0", "--memory-limit: 0 leaves no memory"},
    {"simai simulate -w w.txt -n sx -c none.conf -t 0", "--thread: 0"},
    {"simai simulate -w w.txt -n sx -c none.conf -j 0", "--threads: 0"},
    {"calc groups --world 100 --tp 8", "the nearest that are: 96 and 104"},
    {"calc groups --tp 8", "give the number of ranks"},
    {"calc groups --world 8 --rank 8", "--rank 8 of 8 ranks"},
    {"calc batch --batch 7 --micro-batch 2 --dp 2", "4 and 8"},
    {"calc batch --batch 7", "missing --dp N"},
    {"calc pp-comm --seq 5", "missing --seq N or --hidden N"},
};

static void what_is_wrong_is_said_in_one_line(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct program_result *result = program_run(wrong[i].line);
        CHECK(result->exit_code == 2, "%s: exit code %d", wrong[i].line, result->exit_code);
        CHECK_CONTAINS(result->err, wrong[i].reason);
        CHECK_TEXT(result->out, "");
    }
}

static void the_calculators_answer(void **state)
{
    (void)state;
    program_enter();
    CHECK_CONTAINS(program_run("calc batch --batch 1024 --micro-batch 2 --world 512 --tp 8 --pp 4")->out,
                   "batch 1024 = dp 16 x 32 micro-batches x 2 samples");
    CHECK_CONTAINS(program_run("calc pp-comm --micro-batch 1 --seq 4096 --hidden 8192 --tp 8 --sp")->out,
                   "pp_comm_value 8388608 bytes");
    const char *both = program_run("calc groups --dp 6 --tp 2 --pp 2 --ep 4")->out;
    CHECK_CONTAINS(both, "folded: does not divide: ep 4 does not divide 6");
    both = program_run("calc groups --world 48 --tp 2 --pp 2 --ep 4")->out;
    CHECK_CONTAINS(both, "folded: world 48 = dp 12 x pp 2 x cp 1 x tp 2");
    CHECK_CONTAINS(both, "own: world 48 = dp 3 x pp 2 x ep 4 x cp 1 x tp 2");
}

/* 2 x 2 ranks of TP and CP twice: an exchange of 1 MiB is 512 KiB from each of two ranks, in every tool. */
static void the_exchange_of_context_parallelism_is_timed_and_sent(void **state)
{
    static const char rows[] = "1\nkv -1 0 ALLGATHER_CP 1048576 0 REDUCESCATTER_CP 1048576 0 NONE 0 0\n";
    char text[512];
    (void)state;
    program_enter();
    (void)snprintf(text, sizeof text,
                   "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 cp: 2 pp: 1 "
                   "vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n%s",
                   rows);
    program_write_text("cp.txt", text);
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\n");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 8 -psn 2 -o sx8"), 0);
    /* 1 MiB at 100 GB/s, half of it each way: 4.88 us are less than what two ranks take at least. */
    const struct program_result *result =
        program_run("simai analytical -w cp.txt -g 8 -g_p_s 8 -n_p_s 8 -nv 100 -nic 50 -o cp.csv");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "EP 1, CP 2; 1 micro-batches");
    CHECK_CONTAINS(result->out, "CP communication, exposed     20.00 us  100.0%");
    CHECK_CONTAINS(program_read("cp.csv", NULL), "Expose_CP_comm, Expose_PP_comm");
    result = program_run("simai simulate -w cp.txt -n sx8 -c SimAI.conf --backend flow -q");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "EP 1, PP 1, CP 2; flow network");
    CHECK_CONTAINS(result->out, " 8 collectives, ");
    CHECK_CONTAINS(result->out, " messages of 8 MiB, "); /* 512 KiB a rank and pass */
    CHECK_CONTAINS(result->out, "exposed context parallelism");
    result = program_run("simai simulate -w cp.txt -n sx8 -c SimAI.conf --backend packet -q --json -");
    CHECK_EXIT(result, 0);
    CHECK(strstr(result->out, "\"cp\": 0,") == NULL && strstr(result->out, "\"cp\"") != NULL, "%s", result->out);
    result = program_run("trace convert cp.txt -o cpjob");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(program_read("cpjob.groups.json", NULL), "[0, 2]");
    /* SimAI knows no such group. */
    result = program_run("simai analytical --compat simai -w cp.txt -g 8 -g_p_s 8 -n_p_s 8 -nv 100 -nic 50 -o cp.csv");
    CHECK_EXIT(result, 0);
    CHECK(strstr(program_read("cp.csv", NULL), "CP_comm") == NULL, "SimAI's columns");
    (void)snprintf(text, sizeof text,
                   "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 cp: 3 pp: 1 "
                   "vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n%s",
                   rows);
    program_write_text("cp.txt", text);
    static const char *const lines[] = {"simai analytical -w cp.txt -g 8 -g_p_s 8 -n_p_s 8 -nv 100 -nic 50",
                                        "simai simulate -w cp.txt -n sx8 -c SimAI.conf",
                                        "trace convert cp.txt -o cpjob"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        result = program_run(lines[i]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err,
                       "cp.txt:1: context parallelism of 3 does not divide the 4 ranks that TP and PP leave");
    }
}

static void a_document_on_standard_output_takes_the_place_of_the_text(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\n");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 16 -psn 2 -o sx"), 0);
    const struct program_result *result =
        program_run("simai simulate -w w.txt -n sx -c SimAI.conf --backend flow --json - -q");
    CHECK_EXIT(result, 0);
    CHECK(result->out[0] == '{', "JSON and nothing else: %s", result->out);
    CHECK(!program_exists("-"), "no file of that name");
}

static void a_run_is_kept_listed_and_run_again(void **state)
{
    (void)state;
    program_enter();
    program_write_text("m.txt", MICRO_16);
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\n");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 16 -psn 2 -o sx"), 0);
    CHECK_EXIT(program_run("simai simulate -w m.txt -n sx -c SimAI.conf --nvls 1 --store s.db --tag kept -q"), 0);
    const struct program_result *result = program_run("lab show --store s.db");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "kind          simai");
    CHECK_CONTAINS(result->out, "  rows      m.txt");
    CHECK_CONTAINS(result->out, "nvls     1");
    CHECK_CONTAINS(result->out, "Ranks (16 of 16 finished)");
    CHECK_CONTAINS(result->out, "all-reduce               16        1 MiB         16");
    result = program_run("lab rerun --store s.db");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "The simulated results are the same.");
    CHECK_EXIT(program_run("simai simulate -w m.txt -n sx -c SimAI.conf --store m.txt/s.db -q"), 2);
}

static void a_machine_is_named_instead_of_described_by_files(void **state)
{
    (void)state;
    program_enter();
    program_write_text("n.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 "
                                "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n1\n"
                                "layer -1 1000 ALLREDUCE 1048576 1000 NONE 0 1000 ALLREDUCE 1048576 1\n");
    static const struct {
        const char *machine, *says;
    } machines[] = {
        {"dgx-h100:2", "16 GPUs in 2 servers; TP 8, DP 2"},
        {"dgx-h100", "16 GPUs in 2 servers; TP 8, DP 2"}, /* as many as all_gpus */
        {"dgx-h100:2>rail:200Gbps>spine:4", "16 GPUs in 2 servers; TP 8, DP 2"},
        {"torus:4x4", "16 GPUs in 16 servers; TP 8, DP 2"},
        {"switch --bandwidth 100Gbps --latency 2us", "16 GPUs in 16 servers; TP 8, DP 2"},
    };
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char line[128];
        (void)snprintf(line, sizeof line, "simai simulate -q --backend flow -w n.txt --machine %s",
                       machines[i].machine);
        const struct program_result *result = program_run(line);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, machines[i].says);
    }
    CHECK_EXIT(program_run("topo make dgx-h100 --nodes 2 --format simai -o n.topo"), 0);
    char *named = strdup(program_run("simai simulate -q -w n.txt --machine dgx-h100:2")->out);
    const struct program_result *result = program_run("simai simulate -q -w n.txt --machine n.topo");
    CHECK(named != NULL, "memory");
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->out, named);
    free(named);
    program_write_text("n.yml", "topology: [ Ring ]\nnpus_count: [ 16 ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n");
    result = program_run("simai simulate -w n.txt --machine n.yml");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "n.yml: this is a network file (YAML), which has no wires");
    result = program_run("simai simulate -w n.txt -n n.topo -c n.yml");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "n.yml: this is a network file (YAML), which the networks unaware and aware read; ");
    CHECK_EXIT(program_run("simai simulate -w n.txt --machine dgx-h100 --backend flow --store n.db -q"), 0);
    result = program_run("lab rerun 1 --store n.db");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "The simulated results are the same.");
}

static void collectives_may_take_the_models_time(void **state)
{
    (void)state;
    program_enter();
    program_write_text("m.txt", "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 "
                                "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0\n"
                                "1\na -1 1000 ALLGATHER 16777216 0 NONE 0 0 ALLREDUCE 67108864 1\n");
    const struct program_result *result =
        program_run("simai simulate -q -w m.txt --machine dgx-h100:2 --collective-times model --store m.db");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "10 collectives, 0 messages of 0 B");
    /* What coll time says of 8 GPUs of one server, and of one GPU in each of two, eight such groups at once. */
    CHECK_CONTAINS(result->out, "a    forward          1x  1.000 us  all-gather  tp     16 MiB  71.13 us");
    CHECK_CONTAINS(result->out, "a    weight gradient  1x      0 ns  all-reduce  dp     64 MiB  1.532 ms");
    CHECK_CONTAINS(program_run("coll time --gpu h100 --op all-gather --bytes 16MiB")->out, "71.1");
    CHECK_CONTAINS(
        program_run("coll time --gpu h100 --nodes 2 --gpus-per-node 1 --groups 8 --op all-reduce --bytes 64MiB")->out,
        "1532");
    CHECK_CONTAINS(program_run("lab rerun 1 --store m.db")->out, "The simulated results are the same.");
    result = program_run("simai simulate -w m.txt --machine dgx-h100:2 --collective-times model --compat simai");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--collective-times: SimAI 1.6 sends every message");
    result = program_run("simai simulate -w m.txt --machine dgx-h100:2 --collective-times model --collective-gpu x1");
    CHECK_EXIT(result, 2);
}

static void a_variable_without_a_value_is_not_set(void **state)
{
    (void)state;
    program_enter();
    write_workload();
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\n");
    CHECK_EXIT(program_run("topo make -topo Spectrum-X -g 16 -psn 2 -o sx"), 0);
    static const char line[] = "simai simulate -w w.txt -n sx -c SimAI.conf --backend flow -q";
    CHECK_EXIT(program_run_as(NULL, line, "AS_SEND_LAT=", NULL), 0);
    CHECK_EXIT(program_run_as(NULL, line, "AS_PXN_ENABLE=", NULL), 0);
    CHECK_EXIT(program_run_as(NULL, line, "AS_SEND_LAT=soon", NULL), 2);
    const struct program_result *result = program_run_as(NULL, line, NULL, "/dev/full");
    CHECK_EXIT(result, 1);
    CHECK_ONE_LINE(result);
}

TEST_MAIN(bandwidths_may_have_units, simais_spellings_are_taken_and_its_table_is_written,
          a_file_of_bandwidths_is_enough, simais_name_gives_simais_numbers, what_is_wrong_is_said_in_one_line,
          the_calculators_answer, the_exchange_of_context_parallelism_is_timed_and_sent,
          a_document_on_standard_output_takes_the_place_of_the_text, a_run_is_kept_listed_and_run_again,
          a_machine_is_named_instead_of_described_by_files, collectives_may_take_the_models_time,
          a_variable_without_a_value_is_not_set, simais_readme_lines_run_as_they_stand, simais_environment_is_read,
          an_nvls_tree_can_be_asked_for_by_itself, counting_and_running_a_pipeline_agree,
          aicbs_table_is_read_back_and_filled)
