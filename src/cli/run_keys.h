/*
 * What the parts of `orrery run`'s option reader share, and nobody else: the keys of its table (run_options.c), the
 * readers of what stands behind them (run_values.c), and what is settled when all are read (run_check.c).
 */
#ifndef ORR_CLI_RUN_KEYS_H
#define ORR_CLI_RUN_KEYS_H

#include "cli/run.h"

enum {
    KEY_BACKEND = 256,
    KEY_POLICY,
    KEY_BROADCAST,
    KEY_QUEUES,
    KEY_INJECTION,
    KEY_RENDEZVOUS,
    KEY_JITTER,
    KEY_CONTENTION,
    KEY_SEED,
    KEY_MEMORY_LIMIT,
    KEY_STRICT,
    KEY_REPLAY,
    KEY_FORMAT,
    KEY_JSON,
    KEY_CSV,
    KEY_TIMELINE,
    KEY_STATUS_FILE,
    KEY_NO_PROGRESS,
    KEY_MEMORY,
    KEY_GROUPS,
    KEY_LOGICAL,
    KEY_NO_PFC,
    KEY_FCT,
    KEY_PFC,
    KEY_QLEN,
    KEY_COMPAT,
    KEY_QBB,
    KEY_ROUTING,
    KEY_SPRAY,
    KEY_PARALLEL,
    KEY_CC,
    KEY_LINK_DOWN,
    KEY_RTO,
    KEY_NO_FORWARD,
    KEY_GROW,
    KEY_GROW_ROLE,
    KEY_GROW_COMM,
    KEY_STRONG,
    KEY_MISSING_CPU_OP,
    KEY_COMP_SOURCE,
    KEY_FORCED_NS,
    KEY_GPU_MHZ,
    KEY_COMPUTE_FACTOR,
    KEY_HOST_FACTOR,
    KEY_LAUNCH,
    KEY_CALIBRATION,
    KEY_SET,
    KEY_COMM_INTERVALS,
    KEY_DEVICES,
};

/* One option each, into `run`; what is wrong goes into its input's error. */
error_t run_choice_parse(int key, const char *arg, struct run_options *run);
error_t run_tuning_parse(int key, const char *arg, struct run_options *run);
error_t run_number_parse(int key, const char *arg, struct run_options *run);
error_t run_flag_parse(int key, struct run_options *run);
ORR_MUST_CHECK enum orr_status run_link_down_parse(const char *text, struct run_options *run);

/* Checks what was read, fills in what follows from it, and takes the memory limit of the environment where none is
 * given. `lenient`: options that the network cannot have are let pass, as the originals do. */
ORR_MUST_CHECK enum orr_status run_options_settle(struct run_options *options, bool lenient, struct orr_error *err);

#endif
