/* SPDX-License-Identifier: Apache-2.0 */
/* SimAI's two modes: by size over bandwidth, and message by message on a wired machine. Included by orrery.h. */
#ifndef ORRERY_SIMAI_H
#define ORRERY_SIMAI_H

#include "orrery/machine.h"
#include "orrery/run.h"

ORR_BEGIN

/* In which order a pipeline stage works on its micro-batches. INTERLEAVED: its layers in as many chunks as the header's
 * vpp: says (Megatron's virtual pipeline stages), which shrinks the bubble and multiplies the messages by that. */
enum orr_simai_schedule { ORR_SIMAI_1F1B, ORR_SIMAI_INTERLEAVED };

/*
 * Where compute times come from. MODEL: rows that have none (1 ns and less, as AICB writes them without a GPU) get
 * those of the operator model. The text says how the job is divided and how large its messages are; the shape of the
 * model it does not say.
 */
enum orr_simai_times { ORR_SIMAI_TIMES_GIVEN, ORR_SIMAI_TIMES_MODEL };
struct orr_simai_compute {
    enum orr_simai_times times;
    const char *model;  /* as of orr_train_model_find */
    const char *device; /* h100, mi300x … */
    uint32_t micro_batch,
        seq; /* sequences of a micro-batch, tokens of one; 0: follows from the other and the messages */
};

/* ---- SimAI's analytical mode ----------------------------------------------------------------------------------- */

/*
 * An iteration of a SimAI workload text by arithmetic alone: size over bandwidth for every collective. Bandwidths are
 * in GB/s with GB = 2^30 bytes, overlaps shares from 0 to 1. 0 and NULL: not given. Start from
 * orr_simai_analytical_init. Texts are borrowed for the call.
 */
struct orr_simai_analytical {
    const char *workload;
    uint32_t gpus, gpus_per_server, nics_per_server;
    double nvlink, nic;       /* of a GPU, of a NIC */
    const char *gpu_type;     /* A100, H100, B200, MI300X …: NVLink's or xGMI's bandwidth, where it is not given */
    const char *nic_type;     /* cx6, cx7, bf3: the NIC's, where it is not given; NULL: cx7 */
    const char *busbw;        /* file of measured bus bandwidths, which go before all of these; or NULL */
    const char *ratio_folder; /* with SimAI's tables of achieved bandwidth; NULL: where SimAI looks, else without */
    double tp_overlap, dp_overlap, ep_overlap;
    double
        pp_overlap; /* below 0: not given, which is 0 where a bandwidth for it is known; with compat 1, as in SimAI */
    enum orr_simai_schedule
        schedule;       /* with compat SimAI's estimate, which divides by vpp:, whatever is asked for here */
    const char *csv[2]; /* where to write SimAI's table; NULL: not */
    const char *chart;  /* where to write a page with a chart; NULL: not */
    const char *label;  /* of table and page; NULL: the workload */
    bool japanese;      /* labels of the chart */
    struct orr_simai_compute compute;
    bool compat;           /* SimAI's numbers, slips included */
    uint64_t memory_limit; /* bytes; 0 = 80 % of the machine */
};
void orr_simai_analytical_init(struct orr_simai_analytical *options); /* the defaults */

/* Counts, writes the files, and a report for people to `stream` unless that is NULL. Warnings: tables that are missing,
 * rows that are missing, collectives that are not counted. */
ORR_MUST_CHECK enum orr_status orr_simai_analytical(const struct orr_simai_analytical *options,
                                                    const struct orr_notices *notices, FILE *stream,
                                                    struct orr_error *err);

/* ---- SimAI's simulation ----------------------------------------------------------------------------------------- */

/*
 * A SimAI workload text on a wired machine, every message of every collective. Start from orr_simai_simulation_init.
 * Paths are borrowed until orr_simai_open returns.
 */
struct orr_simai_simulation {
    /* How to simulate: the workload is AICB's text; the backend PACKET, FLOW or AUTO; machine, bandwidth, latency,
     * memory_limit, strict, no_fast_forward, keep_flows, keep_intervals and progress as in any run. Its other
     * parameters are refused where they are set. */
    struct orr_run_options run;
    const char *topology;             /* SimAI's form of the file; NULL: run.machine says it */
    const char *config;               /* SimAI.conf; NULL with run.machine: as a run on that machine has it */
    enum orr_simai_schedule schedule; /* of pipeline stages; not with compat, which has none */
    uint64_t send_latency_ns;         /* before a message starts: AS_SEND_LAT; only with has_send_latency */
    bool has_send_latency;            /* without it: 6 us, and 6 ms with compat */
    struct orr_simai_compute compute;
    bool nvls, pxn; /* AS_NVLS_ENABLE, AS_PXN_ENABLE */
    bool nvls_tree; /* AS_NVLSTREE_ENABLE: of groups on several servers alone */
    bool compat;    /* as SimAI 1.6: no pipeline, no expert groups without tensor parallelism … */
};
void orr_simai_simulation_init(struct orr_simai_simulation *options); /* the defaults */

/* The result is a run as any other: orr_run_execute, the functions that ask it, orr_run_write, orr_run_close. Its nodes
 * are the rows' cells; ORR_OUTPUT_ASTRA and LOCAL_MEM are of traces alone, ORR_OUTPUT_SIMAI_* of these runs alone. */
ORR_MUST_CHECK enum orr_status orr_simai_open(const struct orr_simai_simulation *options, struct orr_run **run,
                                              struct orr_error *err);

/* Enters it, executed, in the result store (orrery/lab.h), whatever its end was. `options` are what it was opened with;
 * tag and command may be NULL. `*number` is the run's in the store. */
ORR_MUST_CHECK enum orr_status orr_simai_store(const struct orr_simai_simulation *options, const struct orr_run *run,
                                               const char *store, const char *tag, const char *command, int64_t *number,
                                               struct orr_error *err);

ORR_END

#endif
