/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of the power limit that a GPU draws, by what it does. Measured on an H200 (700 W) but for communication, which
 * one GPU cannot show: matrix products from 2048 to 8192 and attention 0.98 to 0.99, copies in memory 0.88, kernels of
 * a few us one by one 0.18, idle between them 0.17. Collectives keep a part of the units and of the memory busy: half.
 */
#include "train/energy.h"

#include "compute/device.h"

#define ENERGY_KERNELS   0.98
#define ENERGY_OPTIMIZER 0.88 /* it moves bytes */
#define ENERGY_COMM      0.5
#define ENERGY_WAITING   0.18

void energy_of_step(const struct orr_train_options *options, struct orr_train_result *result)
{
    double limit = options->power_watts > 0 ? options->power_watts : device_rows[device_find(result->device)].power;
    double seconds = (double)result->step_ns * 1e-9;
    double kernels = (double)(result->forward_ns + result->backward_ns);
    double waiting = (double)(result->bubble_ns + result->launch_ns);
    double share = ENERGY_KERNELS * kernels + ENERGY_OPTIMIZER * (double)result->optimizer_ns +
                   ENERGY_COMM * (double)result->exposed_comm_ns + ENERGY_WAITING * waiting;
    result->watts = result->step_ns > 0 ? limit * share / (double)result->step_ns : 0;
    result->joules = result->watts * seconds * result->plan.gpus;
    result->gpu_hour = options->gpu_hour;
    result->cost = options->gpu_hour * result->plan.gpus * seconds / 3600;
}
