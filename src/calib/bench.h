/* SPDX-License-Identifier: Apache-2.0 */
/* The public options of a fit to measured collectives, as those of the readers and of the fit. */
#ifndef ORR_CALIB_BENCH_H
#define ORR_CALIB_BENCH_H

#include "calib/network.h"
#include "orrery.h"

/* Fails with ORR_EINVAL, naming the option and the nearest word. The overhead is left to the caller. */
ORR_MUST_CHECK enum orr_status calib_bench_options(const struct orr_calib_options *options,
                                                   struct calib_read_options *reading,
                                                   struct calib_network_options *fitting, struct orr_error *err);

#endif
