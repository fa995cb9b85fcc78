/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine is named (dgx-h100:2), which says GPU, rates and NICs, or said in parts; parts go before the name. A user's
 * logs become curves of this machine, whatever it is, and are looked at before those that are shipped.
 */
#include "api/colltime_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "calib/coll_curve.h"
#include "calib/read.h"
#include "coll/impl.h"
#include "run/machine_files.h"
#include "run/machine_read.h"

static enum orr_status find_gpu(const char *name, const struct timing_gpu **gpu, struct orr_error *err)
{
    *gpu = timing_gpu_find(name);
    if (*gpu != NULL) {
        return ORR_OK;
    }
    const char *names[128] = {NULL};
    for (size_t i = 0; timing_gpu_at(i) != NULL && i < 127; i++) {
        names[i] = timing_gpu_at(i)->name;
    }
    return error_unknown("GPU", name, names, err);
}

static enum orr_status read_rate(const char *text, double *gbytes, struct orr_error *err)
{
    uint64_t bps = 0;
    enum orr_status status = units_parse(text, UNITS_RATE, "Gbps", &bps, err);
    if (status == ORR_OK) {
        *gbytes = (double)bps / 8e9;
    }
    return status;
}

/* A line, "dgx-h100:2 > rail:200Gbps", is refused where `orrery machine show` refuses it; its NICs' rate is taken over.
 */
static enum orr_status read_machine_line(struct run_machine *named, struct orr_coll_timer *timer, struct orr_error *err)
{
    struct run_line_network network = {0};
    struct run_quantities rates = {0};
    struct run_quantities times = {0};
    struct orr_error reason = {0};
    enum orr_status status = run_line_network_read(named->line, &network, &reason);
    if (status == ORR_OK) {
        status = run_machine_made_dims(named, &timer->arena, &rates, &times, &reason);
    }
    if (status != ORR_OK) {
        return error_set(err, status, "parameter 'machine': \"%.80s\": %s", named->line, reason.text);
    }
    timer->gpus = (uint32_t)network.gpus;
    timer->nodes = (uint32_t)network.servers;
    timer->machine.node_gpus = timer->gpus;
    if (network.nic_gbytes > 0) {
        timer->machine.nic_gbytes = network.nic_gbytes;
    }
    return ORR_OK;
}

/* A name of presets/machines; what is not a server of GPUs has no collectives that were measured. */
static enum orr_status read_name(const char *name, struct orr_coll_timer *timer, struct orr_error *err)
{
    struct run_machine named;
    enum orr_status status = run_machine_parse(name, &named, err);
    if (status != ORR_OK) {
        return status;
    }
    const struct topo_server *server = named.server;
    if (server == NULL || *server->device == '\0') {
        return error_set(err, ORR_EINVAL,
                         "parameter 'machine': \"%.80s\" names no GPU; a server of presets/machines such as dgx-h100:2 "
                         "does, or name the GPU itself",
                         name);
    }
    struct timing_machine *machine = &timer->machine;
    status = find_gpu(server->device, &machine->gpu, err);
    if (status == ORR_OK) {
        status = read_rate(server->nic, &machine->nic_gbytes, err);
    }
    if (status == ORR_OK) {
        machine->nic_every = server->nic_every;
        machine->node_gpus = server->gpus;
        timer->gpus = server->gpus;
        timer->nodes = named.ranks / server->gpus;
    }
    return status == ORR_OK && named.line != NULL ? read_machine_line(&named, timer, err) : status;
}

/* 0: not said. */
static bool is_coll_rate(double gbytes)
{
    return gbytes == 0 || (gbytes >= 0.01 && gbytes <= 1e5);
}

static enum orr_status read_parts(const struct orr_coll_machine *said, struct timing_machine *machine,
                                  struct orr_error *err)
{
    enum orr_status status = said->gpu != NULL ? find_gpu(said->gpu, &machine->gpu, err) : ORR_OK;
    if (status == ORR_OK && said->nccl != NULL && !timing_version_parse(said->nccl, &machine->version)) {
        status = error_set(err, ORR_EINVAL, "release of NCCL \"%.40s\" is not like 2.29.2", said->nccl);
    }
    if (status == ORR_OK && machine->version != 0 && machine->version / 10000 != 2) {
        status = error_set(err, ORR_EINVAL, "release of NCCL \"%.40s\" is not known; they are 2.x, such as 2.29.2",
                           said->nccl);
    }
    if (status == ORR_OK && said->fabric != NULL) {
        machine->fabric = timing_fabric_find(said->fabric, 0, machine->gpu);
        if (machine->fabric == NULL) {
            status = error_set(err, ORR_EINVAL, "unknown network \"%.60s\"; there are ib, roce, efa, gcp and slingshot",
                               said->fabric);
        }
    }
    if (status == ORR_OK && !(is_coll_rate(said->link_gbytes) && is_coll_rate(said->nic_gbytes))) {
        status = error_set(err, ORR_ERANGE, "rates of links and NICs must be from 0.01 to 100000 GB/s");
    }
    if (status == ORR_OK) {
        machine->link_gbytes = said->link_gbytes > 0 ? said->link_gbytes : machine->link_gbytes;
        machine->nic_gbytes = said->nic_gbytes > 0 ? said->nic_gbytes : machine->nic_gbytes;
        machine->nic_every = said->nic_every > 0 ? said->nic_every : machine->nic_every;
        machine->node_gpus = said->node_gpus > 0 ? said->node_gpus : machine->node_gpus;
    }
    return status;
}

/* ---- the user's own measurements ---- */

static const struct {
    int32_t type;
    enum orr_coll_op op;
} types[] = {{COLL_ALL_REDUCE, ORR_COLL_OP_ALL_REDUCE},
             {COLL_ALL_GATHER, ORR_COLL_OP_ALL_GATHER},
             {COLL_REDUCE_SCATTER, ORR_COLL_OP_REDUCE_SCATTER},
             {COLL_REDUCE_SCATTER_BLOCK, ORR_COLL_OP_REDUCE_SCATTER},
             {COLL_ALL_TO_ALL, ORR_COLL_OP_ALL_TO_ALL},
             {COLL_BROADCAST, ORR_COLL_OP_BROADCAST},
             {COLL_REDUCE, ORR_COLL_OP_REDUCE}};

static int by_series(const void *a, const void *b)
{
    const struct calib_point *x = a;
    const struct calib_point *y = b;
    if (x->type != y->type) {
        return x->type < y->type ? -1 : 1;
    }
    if (x->ranks != y->ranks) {
        return x->ranks < y->ranks ? -1 : 1;
    }
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? -1 : 1;
    }
    return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

/* One type and number of ranks: a curve, where it is an operation that is known. */
static void add_curve(const struct calib_point *points, uint32_t count, uint32_t node_gpus, const char *source,
                      struct timing_curve *curve, float *values)
{
    struct coll_measured measured[COLL_CURVE_MOST * 4];
    uint32_t kept = 0;
    curve->count = 0;
    for (uint32_t i = 0; i < count && kept < COLL_CURVE_MOST * 4; i++) {
        if (kept == 0 || measured[kept - 1].bytes != points[i].bytes) {
            measured[kept++] = (struct coll_measured){points[i].bytes, points[i].time_us};
        }
    }
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        if (types[t].type == points->type) {
            uint32_t ranks = points->ranks;
            bool spans = node_gpus > 0 && ranks > node_gpus && ranks % node_gpus == 0;
            curve->op = (uint32_t)types[t].op;
            curve->nodes = spans ? ranks / node_gpus : 1;
            curve->gpus = spans ? node_gpus : ranks;
            curve->source = source;
            curve->gpu = "";
            curve->count = coll_curve_make(measured, kept, &curve->first, values);
        }
    }
}

static enum orr_status make_curves(struct calib_points *points, struct orr_coll_timer *timer, struct orr_error *err)
{
    uint32_t node_gpus = timer->machine.node_gpus > 0 ? timer->machine.node_gpus : 8;
    qsort(points->items, points->count, sizeof *points->items, by_series);
    struct timing_curve *curves = arena_zalloc(&timer->arena, points->count * sizeof *curves);
    float *values = arena_zalloc(&timer->arena, (size_t)points->count * COLL_CURVE_MOST * sizeof *values);
    if (curves == NULL || values == NULL) {
        return mem_error(&timer->mem, "the measurements", err);
    }
    uint32_t made = 0;
    for (uint32_t i = 0; i < points->count;) {
        uint32_t end = i + 1;
        while (end < points->count && points->items[end].type == points->items[i].type &&
               points->items[end].ranks == points->items[i].ranks) {
            end++;
        }
        curves[made].values = made * COLL_CURVE_MOST;
        add_curve(&points->items[i], end - i, node_gpus, "your measurements", &curves[made],
                  values + curves[made].values);
        made += curves[made].count > 0;
        i = end;
    }
    timer->machine.own = (struct timing_curves){.curves = curves, .count = made, .values = values};
    return made > 0 ? ORR_OK : error_set(err, ORR_EINVAL, "the measurements hold no collective of a known kind");
}

/* What a fit can be told by parameters, a file that is read here has to say itself. */
static void without_advice(struct orr_error *err)
{
    char *advice = err != NULL ? strstr(err->text, "; say it (parameter") : NULL;
    if (advice != NULL) {
        (void)snprintf(advice, sizeof err->text - (size_t)(advice - err->text),
                       "; logs of nccl-tests and tables with columns collective and ranks say it");
    }
}

static enum orr_status read_measured(const struct orr_coll_machine *said, struct orr_coll_timer *timer,
                                     struct orr_error *err)
{
    struct calib_points points = {0};
    struct calib_read_options options = CALIB_READ_OPTIONS_DEFAULT;
    struct notes notes;
    notes_init(&notes, &timer->mem, false);
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < said->measured_count && status == ORR_OK; i++) {
        struct calib_read_result got;
        status = calib_read(said->measured[i], &options, &timer->mem, &notes, &points, &got, err);
    }
    if (status != ORR_OK) {
        without_advice(err);
    } else {
        status = points.count > 0 ? make_curves(&points, timer, err)
                                  : error_set(err, ORR_EINVAL, "%s: no collective in it", said->measured[0]);
    }
    calib_points_free(&points, &timer->mem);
    notes_free(&notes);
    return status;
}

enum orr_status colltime_machine_read(const struct orr_coll_machine *machine, struct orr_coll_timer *timer,
                                      struct orr_error *err)
{
    *timer = (struct orr_coll_timer){.nodes = 0};
    arena_init(&timer->arena, &timer->mem);
    enum orr_status status = machine->machine != NULL ? read_name(machine->machine, timer, err) : ORR_OK;
    if (status == ORR_OK) {
        status = read_parts(machine, &timer->machine, err);
    }
    if (status == ORR_OK && machine->measured_count > 0) {
        status = read_measured(machine, timer, err);
    }
    return status;
}
