/* SPDX-License-Identifier: Apache-2.0 */
/* A SimAI run in a test: a machine of SimAI's templates, a network configuration, rows; all written to a folder of
 * their own (tests/folder.h) and run through the library. */
#ifndef ORR_TESTS_SIM_SIMAI_BENCH_H
#define ORR_TESTS_SIM_SIMAI_BENCH_H

#include "tests/check.h"
#include "tests/folder.h"

#define BENCH_HEADER(tp, ep, pp, ga, gpus)                                                                             \
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: " tp " ep: " ep " pp: " pp " vpp: 1 ga: " ga            \
    " all_gpus: " gpus " checkpoints: 0 checkpoint_initiates: 0 pp_comm: 1048576\n"

/* Payload, control and marks as SimAI ships them. */
static const char bench_config[] =
    "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 9000\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n"
    "CLAMP_TARGET_RATE 0\nRP_TIMER 900\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1\nRATE_AI 50Mb/s\nRATE_HAI "
    "100Mb/s\nMIN_RATE 100Mb/s\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nHAS_WIN 1\nGLOBAL_T 1\nVAR_WIN 1\n"
    "KMAX_MAP 1 400000000000 3200\nKMIN_MAP 1 400000000000 800\nPMAX_MAP 1 400000000000 0.2\nBUFFER_SIZE 32\n";

static void bench_write(const char *name, const char *text, char path[128])
{
    snprintf(path, 128, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0, "%s", path);
}

/* Opens a run of `rows` on a Spectrum-X of so many GPUs; options are the caller's but for the files. */
static inline struct orr_run *bench_open(const char *gpus, const char *workload, struct orr_simai_simulation options)
{
    char text[128];
    char machine[128];
    char config[128];
    struct orr_error err = {0};
    const struct orr_topo_setting settings[] = {{"hosts", gpus}, {"spines", "2"}};
    struct orr_topo *topo = NULL;
    struct orr_run *run = NULL;
    bench_write("workload.txt", workload, text);
    bench_write("SimAI.conf", bench_config, config);
    snprintf(machine, sizeof machine, "%s/topology", folder);
    CHECK_OK(orr_topo_make("spectrum-x", settings, COUNT_OF(settings), NULL, &topo, &err), &err);
    CHECK_OK(orr_topo_write(topo, machine, &(struct orr_topo_write_options){.form = ORR_TOPO_SIMAI}, &err), &err);
    orr_topo_close(topo);
    options.run.workload = text;
    options.topology = machine;
    options.config = config;
    CHECK_OK(orr_simai_open(&options, &run, &err), &err);
    return run;
}

static struct orr_simai_simulation bench_options(void)
{
    struct orr_simai_simulation options;
    orr_simai_simulation_init(&options);
    options.has_send_latency = true;
    options.send_latency_ns = 3000;
    return options;
}

/* To be freed. */
static inline char *bench_output(const struct orr_run *run, enum orr_output output)
{
    char *text = NULL;
    size_t size = 0;
    struct orr_error err = {0};
    FILE *stream = open_memstream(&text, &size);
    CHECK_OK(orr_run_write(run, output, NULL, stream, &err), &err);
    fclose(stream);
    return text;
}

#endif
