/* SPDX-License-Identifier: Apache-2.0 */
/* Every example in every help text is run as it stands there, in a folder that has the files it names: what a newcomer
 * copies from the screen works. Lines that start another program (torchrun) are passed over. */
#include "tests/cli/commands.h"
#include "tests/cli/program.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void shell(const char *command, const char *what)
{
    int status = system(command); /* the examples are shell lines: patterns, quotes, pipes */
    CHECK(status == 0, "%s: status %d of: %s", what, status, command);
}

/* A step of two ranks, imported, and under the other names the examples have for such traces. */
static void make_traces(void)
{
    static const char *const copies[] = {"traces/job", "job", "traces/x"};
    CHECK_EXIT(program_run("trace import recording -o traces/resnet50"), 0);
    for (size_t i = 0; i < COUNT_OF(copies); i++) {
        for (int rank = 0; rank < 2; rank++) {
            char line[120];
            (void)snprintf(line, sizeof line, "cp traces/resnet50.%d.et %s.%d.et", rank, copies[i], rank);
            shell(line, "set-up");
        }
    }
    shell("for name in broken before after warmup step a b chakra; do cp job.0.et $name.0.et; done", "set-up");
    CHECK_EXIT(program_run("gen collective --npus 2 -o traces/allreduce"), 0);
}

static void make_folder(void)
{
    const char *data = getenv("ORRERY_DATA");
    const char *program = getenv("ORRERY");
    CHECK(data != NULL && program != NULL, "ORRERY_DATA and ORRERY are set");
    program_enter();
    char line[PATH_MAX + 200];
    (void)snprintf(line, sizeof line,
                   "mkdir -p bin traces && ln -sf '%s' bin/orrery && cp -r '%s/cifar10_gloo' recording", program, data);
    shell(line, "set-up");
    shell("for f in host_0 device_0; do cp recording/$f.json.gz . && gunzip -kf $f.json.gz; done", "set-up");
    program_write_machine(2, 4);
    shell("cp system.json sys.json && cp network.yml net.yml", "set-up");
    program_write_text("config.txt", "TOPOLOGY_FILE topology.txt\nCC_MODE 12\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\n");
    program_write_text("topology.txt", "3 1 2\n2\n0 2 400Gbps 1us 0\n1 2 400Gbps 1us 0\n");
    program_write_text("dlrm.txt", "DATA\n1\nlayer -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1024 1\n");
    program_write_text("workload.txt",
                       "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 1 ga: 4 "
                       "all_gpus: 128 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 8388608\n2\n"
                       "attention -1 500000 ALLREDUCE 33554432 500000 ALLREDUCE 33554432 500000 NONE 0 100\n"
                       "grad_norm -1 0 NONE 0 0 NONE 0 0 REDUCESCATTER 1073741824 100\n");
    program_write_text("SimAI.conf", "PACKET_PAYLOAD_SIZE 9000\nCC_MODE 12\nL2_ACK_INTERVAL 1\nL2_CHUNK_SIZE 4000\n");
    program_write_text("amd-smi.txt", "GPU: 0\n    CLOCK:\n        GFX_0:\n            CLK: 2870 MHz\n");
    program_write_text("sweep.yml", "options:\n  workload: traces/allreduce\n  system: system.json\n"
                                    "  network: network.yml\nvary:\n  network.bandwidth: [50, 100]\n");
    program_write_text("shapes.csv", "op,m,n,k\ngemm,4096,4096,4096\n");
    program_write_text("measured.csv", "op,device,dtype,rows,cols,us\nadd,mi300x,bf16,1024,1024,9\n"
                                       "add,mi300x,bf16,4096,4096,31\nadd,mi300x,bf16,8192,8192,105\n"
                                       "add,mi300x,bf16,2048,4096,19\nadd,mi300x,bf16,2048,8192,30\n"
                                       "add,mi300x,bf16,1024,4096,13\nadd,mi300x,bf16,16384,8192,205\n");
    program_write_text("collectives.csv", "source,gpu,nodes,gpus_per_node,op,bytes,us_median\n"
                                          "mine,h100,1,8,all-reduce,1048576,42\nmine,h100,1,8,all-reduce,8388608,95\n"
                                          "mine,h100,1,8,all-reduce,67108864,340\n");
    program_write_text("table.csv", "op,time\nforward,5\nbackward,7\n");
    program_write_text("all_reduce_perf.txt",
                       "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
                       "8 2 float sum -1 25.80 0.00 0.00 0 25.90 0.00 0.00 0\n"
                       "1048576 262144 float sum -1 155.00 6.76 6.76 0 154.60 6.78 6.78 0\n"
                       "536870912 134217728 float sum -1 66100.00 8.12 8.12 0 66090.00 8.12 8.12 0\n");
    CHECK_EXIT(program_run("trace link --host host_0.json --device device_0.json -o hdt_0.json"), 0);
    make_traces();
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "./bin:%s", getenv("PATH"));
    assert_int_equal(setenv("PATH", path, 1), 0);
}

/* diff's exit code is part of its answer. */
static void run_example(const char *command, const char *example)
{
    bool needs_graphviz = strstr(example, "| dot") != NULL;
    if (strncmp(example, "orrery ", 7) != 0 || (needs_graphviz && system("dot -V 2>/dev/null") != 0)) {
        return;
    }
    char line[1200];
    (void)snprintf(line, sizeof line, "{ %s; } >out.txt 2>err.txt", example);
    int status = system(line);
    CHECK(status == 0, "%s: \"%s\" ends with %d: %s", command, example, status, program_read("err.txt", NULL));
}

/* Joins lines that go on behind a backslash; a line that argp had to break begins in the first column. */
static size_t run_examples(const char *command, const char *help)
{
    size_t count = 0;
    char example[1000] = "";
    const char *line = strstr(help, "Example");
    for (line = line == NULL ? "" : strchr(line, '\n') + 1; *line != '\0'; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (length == 0) {
            break; /* what follows is another paragraph */
        }
        CHECK(strncmp(line, "  ", 2) == 0 && length < 80, "%s: the example is broken at \"%.*s\"", command, (int)length,
              line);
        size_t used = strlen(example);
        bool goes_on = line[length - 1] == '\\';
        (void)snprintf(example + used, sizeof example - used, "%.*s", (int)(length - 2 - goes_on), line + 2);
        if (!goes_on) {
            run_example(command, example);
            example[0] = '\0';
            count++;
        }
        line += length;
    }
    return count;
}

static const char *const commands[] = {COMMANDS_WITH_EXAMPLES};

static void every_example_of_the_help_works(void **state)
{
    (void)state;
    make_folder();
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "help %s", commands[i]);
        char *help = strdup(program_run(line)->out);
        CHECK(help != NULL && run_examples(commands[i], help) > 0, "%s has no example", commands[i]);
        free(help);
    }
}

TEST_MAIN(every_example_of_the_help_works)
