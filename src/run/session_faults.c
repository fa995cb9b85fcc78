/* SPDX-License-Identifier: Apache-2.0 */
/* What makes ranks and links of a run differ: devices, stragglers, faults, from files and lists into plain values. */
#include <inttypes.h>
#include <string.h>

#include "config/devices.h"
#include "config/faults.h"
#include "run/files.h"
#include "run/session.h"
#include "run/stragglers.h"

/* A list, or the name of a file that has one: the entries of a list have an '='. */
static enum orr_status session_read_devices(struct orr_run *run, const struct orr_run_options *options,
                                            struct orr_error *err)
{
    struct sim_config *config = &run->config;
    struct sim_devices *devices = &config->devices;
    uint32_t ranks = config->dims.ranks;
    enum orr_status status = ORR_OK;
    if (strchr(options->devices, '=') == NULL && run_file_exists(options, options->devices)) {
        struct run_file file;
        status = run_file_open(options, NULL, options->devices, &run->arena, &file, err);
        if (status == ORR_OK) {
            status = config_parse_devices_file(file.text.name, file.text.text, file.text.size, ranks, &run->arena,
                                               devices, err);
            run_file_close(&file);
        }
    } else {
        status = config_parse_devices(options->devices, ranks, &run->arena, devices, err);
    }
    bool links = false;
    for (uint32_t kind = 0; status == ORR_OK && kind < devices->kind_count; kind++) {
        links = links || devices->kinds[kind].link_factor != 1.0;
    }
    if (status != ORR_OK || !links) {
        return status;
    }
    double *factors = arena_alloc(&run->arena, ranks * sizeof *factors);
    if (factors == NULL) {
        return mem_error(&run->mem, "the rates of links", err);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        factors[rank] = sim_device_of(config, rank)->link_factor;
    }
    config->dims.link_factors = factors;
    return ORR_OK;
}

/* The switch that a fault means, of a machine of dimensions; or which dimension joins its two ranks. */
static enum orr_status place_fault(const struct topo_dims *dims, const struct config_fault *fault,
                                   struct net_fault *made, struct orr_error *err)
{
    uint32_t found = UINT32_MAX;
    uint32_t differ = 0;
    bool at_switch = fault->switch_dim >= 0;
    *made = (struct net_fault){.a = fault->a, .b = at_switch ? NET_NO_MESSAGE : fault->b};
    if (fault->a >= dims->ranks || (!at_switch && fault->b >= dims->ranks)) {
        return error_set(err, ORR_ERANGE, "%s: there is no rank %" PRIu32 "; the machine has ranks 0 to %" PRIu32,
                         fault->where, fault->a >= dims->ranks ? fault->a : fault->b, dims->ranks - 1);
    }
    for (uint32_t d = 0; d < dims->count; d++) {
        const struct topo_dim *dim = &dims->dim[d];
        bool named = fault->switch_dim == CONFIG_FAULT_ANY || fault->switch_dim == (int32_t)d;
        uint32_t a = topo_coordinate(dim, fault->a);
        uint32_t b = at_switch ? a : topo_coordinate(dim, fault->b);
        uint32_t apart = a < b ? b - a : a - b;
        bool joined =
            dim->kind == TOPO_FULLY_CONNECTED || (dim->kind == TOPO_RING && (apart == 1 || apart == dim->size - 1));
        differ += apart > 0;
        bool fits = at_switch ? named && dim->kind == TOPO_SWITCH : apart > 0 && joined;
        found = fits && found == UINT32_MAX ? d : found;
    }
    made->dim = found;
    if (found != UINT32_MAX && differ <= 1) {
        return ORR_OK;
    }
    return at_switch ? error_set(err, ORR_EINVAL, "%s: no such switch joins rank %" PRIu32, fault->where, fault->a)
                     : error_set(err, ORR_EINVAL,
                                 "%s: no link joins ranks %" PRIu32 " and %" PRIu32
                                 "; at a switch a link is that of a rank and switch",
                                 fault->where, fault->a, fault->b);
}

/* Of the network of dimensions that has links: each fault is a change, and another where it ends. */
static enum orr_status take_net_faults(struct orr_run *run, const struct config_fault *faults, uint32_t count,
                                       struct orr_error *err)
{
    struct net_fault *list = arena_alloc(&run->arena, 2 * (size_t)count * sizeof *list);
    enum orr_status status = list == NULL ? mem_error(&run->mem, "the faults", err) : ORR_OK;
    uint32_t made = 0;
    for (uint32_t i = 0; i < count && status == ORR_OK; i++) {
        struct net_fault one;
        status = place_fault(&run->config.dims, &faults[i], &one, err);
        one.time_ns = faults[i].from_ns;
        one.factor = faults[i].factor;
        if (status == ORR_OK) {
            list[made++] = one;
        }
        if (status == ORR_OK && faults[i].until_ns != UINT64_MAX) {
            one.time_ns = faults[i].until_ns;
            one.factor = 1.0;
            list[made++] = one;
        }
    }
    run->config.faults = list;
    run->config.fault_count = status == ORR_OK ? made : 0;
    return status;
}

static enum orr_status session_read_faults(struct orr_run *run, const struct orr_run_options *options,
                                           struct orr_error *err)
{
    enum orr_backend backend = run->config.backend;
    struct config_fault *faults = NULL;
    uint32_t count = 0;
    struct run_file file;
    if (backend == ORR_BACKEND_UNAWARE || options->collective_times == ORR_COLLECTIVES_MODEL) {
        return error_set(err, ORR_EINVAL, "parameter 'faults' needs %s",
                         backend == ORR_BACKEND_UNAWARE
                             ? "a network with links: parameter 'backend' aware, packet, flow "
                               "or auto"
                             : "collectives that are simulated");
    }
    enum orr_status status = run_file_open(options, NULL, options->faults, &run->arena, &file, err);
    if (status == ORR_OK) {
        status = config_parse_faults(file.text.name, file.text.text, file.text.size, &run->arena, &faults, &count, err);
        run_file_close(&file);
    }
    if (status == ORR_OK && backend == ORR_BACKEND_AWARE) {
        return take_net_faults(run, faults, count, err);
    }
    run->wired.faults = faults;
    run->wired.fault_count = count;
    return status;
}

enum orr_status session_take_faults(struct orr_run *run, const struct orr_run_options *options, struct orr_error *err)
{
    enum orr_status status = options->devices != NULL ? session_read_devices(run, options, err) : ORR_OK;
    if (status == ORR_OK && options->stragglers != NULL) {
        status = run_stragglers_read(options->stragglers, run->config.dims.ranks, options->seed, &run->arena,
                                     &run->config.straggling, err);
    }
    return status == ORR_OK && options->faults != NULL ? session_read_faults(run, options, err) : status;
}
