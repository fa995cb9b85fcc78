/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of devices of a run, "0-3=h100,4-7=mi300x:x1.1", turned into sim/config.h's kinds of device and which of
 * them each rank has. Knows the published rates of a few devices by name; not how long anything takes on them.
 */
#ifndef ORR_CONFIG_DEVICES_H
#define ORR_CONFIG_DEVICES_H

#include "base/arena.h"
#include "base/error.h"
#include "sim/config.h"

/*
 * Entries RANKS=DEVICE with commas between them. RANKS: "5", "0-3", "0-3+8-11"; each rank once, those not named are as
 * the system file says. DEVICE: a name or TFLOPS@GB/s or @GB/s (of the memory alone), for the roofline; x with a factor
 * of compute times; linkx with a factor of the rates of the rank's links; any of them with ':' between them.
 *
 * Fails with ORR_EINVAL, ORR_ERANGE (a rank that the machine does not have) or ORR_ENOMEM. What is filled lives in the
 * arena.
 */
ORR_MUST_CHECK enum orr_status config_parse_devices(const char *text, uint32_t ranks, struct arena *arena,
                                                    struct sim_devices *devices, struct orr_error *err);

/* The same of a file: a CSV table with a header, or a JSON list of objects (also as "devices" of an object), with the
 * columns ranks, device, compute_factor, tflops, memory (GB/s), link_factor, of which ranks must be there. `name` is
 * the file's, for messages, and what reports show. */
ORR_MUST_CHECK enum orr_status config_parse_devices_file(const char *name, const char *text, size_t size,
                                                         uint32_t ranks, struct arena *arena,
                                                         struct sim_devices *devices, struct orr_error *err);

/* "0-3" or "5", as lists of ranks have them; what is behind it, or NULL: it is none. */
const char *config_rank_range(const char *at, uint32_t *first, uint32_t *last);

/* The names, for messages: "v100, a100, ...". */
const char *config_device_names(void);

/* Peak in TFLOPS (10^12 a second) and memory in GB/s (10^9 bytes a second) of a device by name; false: it is unknown.
 */
bool config_device_find(const char *name, double *tflops, double *gbytes);

#endif
