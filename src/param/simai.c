/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of SimAI's two modes, and what they mean together. A simulation has those of a run that are marked
 * PARAM_OF_SIMAI beside its own; whatever else is asked of the run inside it is refused. */
#include "param/param.h"

static const char *const schedules[] = {"1f1b", "interleaved", NULL};
static const char *const languages[] = {"en", "ja", NULL};
static const char *const compats[] = {"none", "simai", NULL};
static const char *const time_sources[] = {"given", "model", NULL};
static const char *const switches[] = {"0", "1", NULL};

#define COMPAT_ROW(text)                                                                                               \
    {                                                                                                                  \
        "compat", .kind = PARAM_CHOICE, .group = PARAM_OTHER, .value = "NAME", AT(compat), .words = compats,           \
                  .help = text                                                                                         \
    }
#define COMPUTE_ROWS                                                                                                   \
    {"compute-times",                                                                                                  \
     .kind = PARAM_WORD,                                                                                               \
     .group = PARAM_COMPUTE,                                                                                           \
     .value = "NAME",                                                                                                  \
     AT(compute.times),                                                                                                \
     .words = time_sources,                                                                                            \
     .first = ORR_SIMAI_TIMES_GIVEN,                                                                                   \
     .initial = "given",                                                                                               \
     .help = "given: as the workload says them; model: rows without one (1 ns, as AICB writes them without a GPU) "    \
             "take what the operator model says of parameter 'model' on parameter 'device'"},                          \
        {"model",                                                                                                      \
         .kind = PARAM_TEXT,                                                                                           \
         .group = PARAM_COMPUTE,                                                                                       \
         .value = "NAME",                                                                                              \
         AT(compute.model),                                                                                            \
         .help = "The workload's model for parameter 'compute-times' model: a preset's name or a "                     \
                 "config.json. The text says no shapes"},                                                              \
        {"device",                                                                                                     \
         .kind = PARAM_TEXT,                                                                                           \
         .group = PARAM_COMPUTE,                                                                                       \
         .value = "NAME",                                                                                              \
         AT(compute.device),                                                                                           \
         .help = "Whose times parameter 'compute-times' model takes: h100, mi300x (orrery op list)"},                  \
        {"micro-batch",                                                                                                \
         .kind = PARAM_COUNT32,                                                                                        \
         .group = PARAM_COMPUTE,                                                                                       \
         .value = "N",                                                                                                 \
         AT(compute.micro_batch),                                                                                      \
         .least = 1,                                                                                                   \
         .most = INT32_MAX,                                                                                            \
         .help = "Sequences of a micro-batch, for the same",                                                           \
         .unwritten = "what the messages' sizes leave of parameter 'seq'"},                                            \
    {                                                                                                                  \
        "seq", .kind = PARAM_COUNT32, .group = PARAM_COMPUTE, .value = "N", AT(compute.seq), .least = 1,               \
               .most = INT32_MAX, .help = "Tokens of a sequence, for the same",                                        \
               .unwritten = "what the messages' sizes leave of parameter 'micro-batch'"                                \
    }
#define SCHEDULE_ROW(text)                                                                                             \
    {                                                                                                                  \
        "schedule", .kind = PARAM_WORD, .group = PARAM_COMPUTE, .value = "NAME", AT(schedule), .words = schedules,     \
                    .first = ORR_SIMAI_1F1B, .initial = "1f1b", .help = text                                           \
    }

/* ---- by arithmetic ---- */

#define AT(field)  .place = offsetof(struct orr_simai_analytical, field)
#define NUMBER(at) .kind = PARAM_COUNT32, .value = "N", AT(at), .least = 1, .most = INT32_MAX
#define RATE(at)                                                                                                       \
    .kind = PARAM_REAL, .unit = "GiB/s", .group = PARAM_MACHINE, .value = "RATE", AT(at), .real_least = 1e-9,          \
    .bounds = "is no bandwidth: one is above 0"
#define SHARE(at)                                                                                                      \
    .kind = PARAM_REAL, .group = PARAM_COMPUTE, .value = "SHARE", AT(at), .real_most = 1,                              \
    .bounds = "is not a share between 0 and 1"

const struct param param_simai_analytical[] = {
    {"workload", .letter = 'w', .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", AT(workload),
     .help = "Required: SimAI workload text, as AICB writes it"},
    {"gpus", .letter = 'g', NUMBER(gpus), .group = PARAM_WHAT, .help = "Required: GPUs of the job"},
    {"gpus-per-server", NUMBER(gpus_per_server), .group = PARAM_MACHINE,
     .help = "-g_p_s: GPUs per server. Required without -busbw"},
    {"nics-per-server", NUMBER(nics_per_server), .group = PARAM_MACHINE,
     .help = "-n_p_s: NICs per server. Required without -busbw"},
    {"nvlink", RATE(nvlink),
     .help = "-nv: bus bandwidth of a GPU inside its server: 400GB/s; a bare number is in GiB/s, as in SimAI"},
    {"gpu-type", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(gpu_type),
     .help = "-g_type: instead of -nv. A100, A800, H100, H800, H20 (240, 160, 370.8, 164.8, 370.8), H200 (370.8), "
             "B200, GB200 (741.6), MI300X (294), MI355X (352.8)"},
    {"nic", RATE(nic), .help = "-nic: bandwidth of a NIC: 400Gbps; a bare number is in GiB/s, as in SimAI"},
    {"nic-type", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(nic_type),
     .help = "-nic_t: cx6, cx7 or bf3 instead of -nic (23.5, 48.5, 48.5)", .unwritten = "cx7"},
    {"busbw", .kind = PARAM_PATH, .group = PARAM_MACHINE, .value = "FILE", AT(busbw),
     .help = "-busbw: bus bandwidths measured on a machine, by group and operation (docs/simai.md). What it does not "
             "say comes from the options above"},
    {"ratio-dir", .kind = PARAM_PATH, .group = PARAM_MACHINE, .value = "DIR", AT(ratio_folder),
     .help = "Folder of SimAI's tables of achieved bandwidth. nic_ratio.csv, nvlink_ratio.csv, ata_ratio.csv",
     .unwritten = "astra-sim-alibabacloud/inputs/ratio where it is there, else every collective reaches the full "
                  "bandwidth"},
    {"tp-overlap", SHARE(tp_overlap), .help = "-tp_o: of tensor-parallel collectives", .initial = "0"},
    {"dp-overlap", SHARE(dp_overlap), .help = "-dp_o: of data-parallel collectives", .initial = "0"},
    {"ep-overlap", SHARE(ep_overlap), .help = "-ep_o: of expert-parallel collectives", .initial = "0"},
    {"pp-overlap", SHARE(pp_overlap),
     .help = "-pp_o: of what pipeline stages send each other, beyond what the schedule hides",
     .unwritten = "0, with parameter 'compat' simai 1"},
    SCHEDULE_ROW("What pipeline stages do in which order. 1f1b: one forward, one backward in turn; interleaved: the "
                 "same in as many chunks as vpp: says, which is what parameter 'compat' simai reckons with"),
    COMPUTE_ROWS,
    {"lang", .letter = 'l', .kind = PARAM_CHOICE, .group = PARAM_OUTPUT, .value = "en|ja", AT(japanese),
     .words = languages, .initial = "en", .help = "Language of the chart"},
    COMPAT_ROW("simai: SimAI's own numbers, with what is wrong in them (docs/differences.md)"),
    {"memory-limit", .kind = PARAM_SIZE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "SIZE", AT(memory_limit),
     .least = 1, .bounds = "leaves no memory; leave it out for 80 % of the machine",
     .help = "Stop with exit code 3 rather than use more memory: 512M, 8GiB, bytes",
     .unwritten = "the environment variable ASTRA_SIM_MEMORY_LIMIT, else 80 % of the machine"},
    {0},
};
#undef AT

void orr_simai_analytical_init(struct orr_simai_analytical *options)
{
    static const struct param_table tables[] = {{param_simai_analytical, 0, 0}, {0}};
    *options = (struct orr_simai_analytical){.pp_overlap = -1};
    param_defaults(tables, options);
}

static enum orr_status check_times(const struct orr_simai_compute *compute, bool compat, struct orr_error *err)
{
    const char *other = compute->model != NULL      ? "model"
                        : compute->device != NULL   ? "device"
                        : compute->micro_batch != 0 ? "micro-batch"
                        : compute->seq != 0         ? "seq"
                                                    : NULL;
    if (compute->times == ORR_SIMAI_TIMES_MODEL) {
        return compat ? error_set(err, ORR_EINVAL,
                                  "parameter 'compute-times': SimAI takes the workload's; leave parameter 'compat' out")
                      : ORR_OK;
    }
    return other == NULL ? ORR_OK
                         : error_set(err, ORR_EINVAL, "parameter '%s' needs parameter 'compute-times' model", other);
}

static enum orr_status check_own(const struct param *rows, const void *options, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    for (const struct param *row = rows; row->name != NULL && status == ORR_OK; row++) {
        status = param_check(row, options, err);
    }
    return status;
}

enum orr_status param_simai_analytical_check(const struct orr_simai_analytical *options, struct orr_error *err)
{
    struct orr_simai_analytical said = *options;
    said.pp_overlap = said.pp_overlap < 0 ? 0 : said.pp_overlap; /* below 0: not given */
    enum orr_status status = check_own(param_simai_analytical, &said, err);
    return status == ORR_OK ? check_times(&options->compute, options->compat, err) : status;
}

/* ---- message by message ---- */

#define AT(field)  .place = offsetof(struct orr_simai_simulation, field)
#define SWITCH(at) .kind = PARAM_CHOICE, .group = PARAM_ENVIRONMENT, .value = "0|1", AT(at), .words = switches

const struct param param_simai_simulation[] = {
    {"workload", .letter = 'w', .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", AT(run.workload),
     .help = "Required: SimAI workload text, as AICB writes it"},
    {"topology", .letter = 'n', .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", AT(topology),
     .help = "Machine in SimAI's form (orrery topo make). This or parameter 'machine' is required"},
    {"config", .letter = 'c', .kind = PARAM_PATH, .group = PARAM_WHAT, .value = "FILE", AT(config),
     .help = "Network configuration, SimAI.conf. Required with parameter 'topology'",
     .unwritten = "with parameter 'machine' as parameter 'backend' packet of a run has it"},
    {"backend", .kind = PARAM_WORD, .group = PARAM_NETWORK, .value = "NAME", AT(run.backend),
     .words = &param_backends[ORR_BACKEND_PACKET], .first = ORR_BACKEND_PACKET, .initial = "packet",
     .help = "Network model. packet: every packet; flow: fair shares of the links where that is accurate, else up to "
             "16 million packets; auto: shares where that is accurate, else packets"},
    SCHEDULE_ROW("What pipeline stages do in which order. 1f1b: one forward, one backward in turn; interleaved: the "
                 "same in as many chunks as vpp: says"),
    COMPUTE_ROWS,
    {"send-latency", .kind = PARAM_TIME, .group = PARAM_ENVIRONMENT, .value = "TIME", AT(send_latency_ns),
     .given = offsetof(struct orr_simai_simulation, has_send_latency), .unit = "us",
     .help = "Before a message starts [AS_SEND_LAT]. 3us, 7200ns; a bare number is in us, as in SimAI 1.6 (1.7 counts "
             "ns)",
     .unwritten = "6us, with parameter 'compat' simai 6ms"},
    {"nvls", SWITCH(nvls), .help = "1: all-reduce in the NVLink switch, where the GPUs can [AS_NVLS_ENABLE]"},
    {"nvls-tree", SWITCH(nvls_tree),
     .help = "1: the same for groups over several servers alone, with trees between them [AS_NVLSTREE_ENABLE]"},
    {"pxn", SWITCH(pxn), .help = "1: cross servers from the receiver's rail [AS_PXN_ENABLE]"},
    COMPAT_ROW("simai: as SimAI 1.6. No pipeline stages, its group and flow rules, its stalls (docs/differences.md)"),
    {0},
};
#undef AT

void orr_simai_simulation_init(struct orr_simai_simulation *options)
{
    static const struct param_table tables[] = {{param_simai_simulation, 0, 0}, {0}};
    *options = (struct orr_simai_simulation){0};
    orr_run_options_init(&options->run);
    param_defaults(tables, options);
}

/* Of a run's parameters a simulation has a few; the others would be ignored. */
static enum orr_status check_run(const struct orr_run_options *run, struct orr_error *err)
{
    struct orr_run_options initial;
    const char *other = run->override_count > 0 ? "set" : run->link_down_count > 0 ? "link-down" : NULL;
    orr_run_options_init(&initial);
    initial.workload = run->workload; /* rows of its own */
    initial.backend = run->backend;
    for (const struct param *row = param_run; row->name != NULL; row++) {
        bool has = (row->commands & PARAM_OF_SIMAI) != 0;
        enum orr_status status = has ? param_check(row, run, err) : ORR_OK;
        if (status != ORR_OK) {
            return status;
        }
        other = !has && other == NULL && !param_same(row, run, &initial) ? row->name : other;
    }
    other = run->grow ? "grow" : other;
    return other == NULL ? ORR_OK
                         : error_set(err, ORR_EINVAL, "parameter '%s' is not one of SimAI's simulation", other);
}

enum orr_status param_simai_simulation_check(const struct orr_simai_simulation *options, struct orr_error *err)
{
    const struct {
        const char *path, *name, *what;
    } needed[] = {{options->run.workload, "workload", "FILE (the workload)"},
                  {options->topology, "machine", "NAME (dgx-h100:2), or parameter 'topology' FILE"},
                  {options->config, "config", "FILE (the network configuration, SimAI.conf)"}};
    const struct orr_run_options *run = &options->run;
    if (run->machine != NULL && options->topology != NULL) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'machine' and parameter 'topology' both say what the machine is; one is needed");
    }
    if (run->machine == NULL && (run->bandwidth != NULL || run->latency != NULL)) {
        return error_set(err, ORR_EINVAL, "parameter '%s' needs parameter 'machine'",
                         run->bandwidth != NULL ? "bandwidth" : "latency");
    }
    for (size_t i = 0; i < (run->machine != NULL ? 1 : sizeof needed / sizeof needed[0]); i++) {
        if (needed[i].path == NULL || needed[i].path[0] == '\0') {
            return error_set(err, ORR_EINVAL, "missing parameter '%s' %s", needed[i].name, needed[i].what);
        }
    }
    if (options->compat && run->collective_times != ORR_COLLECTIVES_SIMULATED) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'collective-times': SimAI 1.6 sends every message; leave parameter "
                         "'compat' out");
    }
    if (options->run.backend < ORR_BACKEND_PACKET || options->run.backend > ORR_BACKEND_AUTO) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'backend': SimAI's simulation runs on a wired machine: packet, flow or auto");
    }
    if (run->no_packets && run->backend != ORR_BACKEND_FLOW) {
        return error_set(err, ORR_EINVAL, "parameter 'no-packets' needs parameter 'backend' flow");
    }
    enum orr_status status = check_own(param_simai_simulation, options, err);
    status = status == ORR_OK ? check_run(&options->run, err) : status;
    status = status == ORR_OK ? check_times(&options->compute, options->compat, err) : status;
    if (status == ORR_OK && options->compat && options->schedule != ORR_SIMAI_1F1B) {
        status =
            error_set(err, ORR_EINVAL,
                      "parameter 'schedule' interleaved with parameter 'compat' simai: SimAI 1.6 runs no pipeline");
    }
    return status;
}
