/* SPDX-License-Identifier: Apache-2.0 */
/* The public function that opens SimAI's simulation: a run (run/simai_open.c), for which compute times are asked here,
 * since those who run do not know who models operators. */
#include "param/param.h"
#include "run/session.h"
#include "train/row_times.h"

/* The header's GPUs, which the machine's are held against later. */
static enum orr_status read_times(const struct orr_simai_simulation *options, struct aicb_part_times *times,
                                  struct orr_error *err)
{
    struct mem mem = {.limit = options->run.memory_limit};
    struct simai_text text;
    enum orr_status status = simai_text_read(options->run.workload, &mem, false, &text, err);
    if (status != ORR_OK) {
        return status;
    }
    int64_t gpus = text.values[SIMAI_GPUS];
    status = gpus > 0 && gpus <= INT32_MAX
                 ? row_times_of_text(&text, &options->compute, (uint32_t)gpus, &mem, times, err)
                 : error_set(err, ORR_EINVAL,
                             "%s:1: parameter 'compute-times' model needs all_gpus: in the header, a number above 0",
                             options->run.workload);
    text_free(&text.workload);
    return status;
}

enum orr_status orr_simai_open(const struct orr_simai_simulation *options, struct orr_run **run, struct orr_error *err)
{
    struct aicb_part_times times;
    bool modelled = options->compute.times == ORR_SIMAI_TIMES_MODEL;
    enum orr_status status = param_simai_simulation_check(options, err);
    status = status == ORR_OK && modelled ? read_times(options, &times, err) : status;
    return status == ORR_OK ? session_simai_open(options, modelled ? &times : NULL, run, err) : status;
}
