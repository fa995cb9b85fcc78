/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One wiring serves all five structures of the original: a GPU's segment is its number over the GPUs of a segment, its
 * place in the segment is its rail (rail-optimised) or 0, and dual ToR repeats the same in the second half of the ASWs.
 * The counts are worked out first, so that nothing is written of a machine that does not exist.
 */
#include "topo/make/template.h"

#include <inttypes.h>
#include <string.h>

struct plan {
    enum topo_template template;
    bool rails, dual_tor, dual_plane;
    uint64_t gpus, per_server, nvswitches, asws, nics_per_asw, psws, asws_per_psw;
    uint64_t segments, rail_count, tors;
    struct topo_quantity nvlink, nvlink_delay, nic, uplink, delay;
};

/* What a template has where nothing is said. */
struct defaults {
    uint64_t gpus, asws, nics_per_asw, psws, asws_per_psw;
    const char *nic;
};

static struct defaults defaults_of(const struct plan *plan)
{
    struct defaults basic = {32, 8, 64, 64, 64, "400Gbps"};
    switch (plan->template) {
    case TOPO_TEMPLATE_SPECTRUM_X:
        basic.gpus = 4096;
        return basic;
    case TOPO_TEMPLATE_HPN:
        return (struct defaults){15360, 240, 128, 120, plan->dual_plane ? 120 : 240, "200Gbps"};
    case TOPO_TEMPLATE_DCN:
        return (struct defaults){512, 8, plan->dual_tor ? 128 : 64, 8, 8, plan->dual_tor ? "200Gbps" : "400Gbps"};
    case TOPO_TEMPLATE_CUSTOM:
        break;
    }
    return basic;
}

/* The structure is the template's own; a custom one's is asked for. */
static enum orr_status choose_structure(struct plan *plan, const struct topo_settings *settings, struct notes *notes,
                                        struct orr_error *err)
{
    static const struct {
        bool fixed, rails, tors, tors_free, planes_free;
    } structures[] = {
        [TOPO_TEMPLATE_CUSTOM] = {.tors_free = true, .planes_free = true},
        [TOPO_TEMPLATE_SPECTRUM_X] = {.fixed = true, .rails = true},
        [TOPO_TEMPLATE_HPN] = {.fixed = true, .rails = true, .tors = true, .planes_free = true},
        [TOPO_TEMPLATE_DCN] = {.fixed = true, .tors_free = true},
    };
    bool asked_rails = topo_settings_has(settings, TOPO_SET_RAIL_OPTIMIZED);
    bool asked_tors = topo_settings_has(settings, TOPO_SET_DUAL_TOR);
    bool asked_planes = topo_settings_has(settings, TOPO_SET_DUAL_PLANE);
    bool fixed = structures[plan->template].fixed;
    plan->rails = fixed ? structures[plan->template].rails : asked_rails;
    plan->dual_tor = structures[plan->template].tors_free ? asked_tors : structures[plan->template].tors;
    plan->dual_plane = structures[plan->template].planes_free && asked_planes;
    if ((asked_rails && !plan->rails) || (asked_tors && !plan->dual_tor) || (asked_planes && !plan->dual_plane)) {
        return notes_add(notes, err, "%s is %srail-optimized with %s ToR%s: %s has no effect", settings->what,
                         plan->rails ? "" : "not ", plan->dual_tor ? "dual" : "single",
                         plan->dual_tor && plan->rails ? "" : " and one plane",
                         asked_rails && !plan->rails     ? "parameter 'rail-optimized' (parameter 'ro')"
                         : asked_tors && !plan->dual_tor ? "parameter 'dual-tor' (parameter 'dt')"
                                                         : "parameter 'dual-plane' (parameter 'dp')");
    }
    if (plan->dual_plane && !(plan->rails && plan->dual_tor)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'dual-plane' (parameter 'dp') needs parameter 'rail-optimized' (parameter 'ro') "
                         "and parameter 'dual-tor' (parameter 'dt'): "
                         "two planes are told apart by the two ToRs of a rail");
    }
    return ORR_OK;
}

static enum orr_status read_counts(struct plan *plan, const struct topo_settings *settings, struct orr_error *err)
{
    struct defaults given = defaults_of(plan);
    const struct {
        enum topo_setting id;
        uint64_t otherwise, least;
        uint64_t *value;
    } counts[] = {
        {TOPO_SET_HOSTS, given.gpus, 1, &plan->gpus},
        {TOPO_SET_GPUS_PER_NODE, 8, 1, &plan->per_server},
        {TOPO_SET_NVSWITCHES, 1, 0, &plan->nvswitches},
        {TOPO_SET_LEAVES, given.asws, 0, &plan->asws},
        {TOPO_SET_PER_LEAF, given.nics_per_asw, 1, &plan->nics_per_asw},
        {TOPO_SET_SPINES, given.psws, 0, &plan->psws},
        {TOPO_SET_LEAVES_PER_SPINE, given.asws_per_psw, 0, &plan->asws_per_psw},
    };
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && status == ORR_OK; i++) {
        status = topo_settings_count(settings, counts[i].id, counts[i].otherwise, counts[i].least, TOPO_NODES_MOST,
                                     counts[i].value, err);
    }
    return status;
}

static enum orr_status read_quantities(struct plan *plan, const struct topo_settings *settings, struct orr_error *err)
{
    struct defaults given = defaults_of(plan);
    enum orr_status status = topo_settings_rate(settings, TOPO_SET_NVLINK_BANDWIDTH, 0, "2880Gbps", &plan->nvlink, err);
    if (status == ORR_OK) {
        status = topo_settings_time(settings, TOPO_SET_NVLINK_LATENCY, 0, "0.000025ms", &plan->nvlink_delay, err);
    }
    if (status == ORR_OK) {
        status = topo_settings_time(settings, TOPO_SET_LATENCY, 0, "0.0005ms", &plan->delay, err);
    }
    if (status == ORR_OK) {
        status = topo_settings_rate(settings, TOPO_SET_BANDWIDTH, 0, given.nic, &plan->nic, err);
    }
    return status == ORR_OK ? topo_settings_rate(settings, TOPO_SET_SPINE_BANDWIDTH, 0, "400Gbps", &plan->uplink, err)
                            : status;
}

/* Segments and ASWs from the GPUs; -asn is only ever right or corrected. */
static enum orr_status topo_template_size_up(struct plan *plan, struct notes *notes, struct orr_error *err)
{
    plan->tors = plan->dual_tor ? 2 : 1;
    plan->rail_count = plan->rails ? plan->per_server : 1;
    uint64_t per_segment = plan->nics_per_asw * plan->rail_count;
    plan->segments = (plan->gpus + per_segment - 1) / per_segment;
    uint64_t asws = plan->segments * plan->rail_count * plan->tors;
    if (plan->gpus % plan->per_server != 0 && plan->nvswitches > 0) {
        return error_set(err, ORR_EINVAL,
                         "%" PRIu64 " GPUs do not fill servers of %" PRIu64
                         ": parameter 'hosts' (-g) must be a multiple of "
                         "parameter 'gpus-per-node' (-gps)",
                         plan->gpus, plan->per_server);
    }
    uint64_t most = plan->asws_per_psw / (plan->rails ? plan->rail_count : plan->tors);
    if (plan->segments > most) {
        return error_set(err, ORR_EINVAL,
                         "%" PRIu64 " GPUs need %" PRIu64 " segments and one pod holds %" PRIu64
                         " (parameter 'leaves-per-spine' (-app) %" PRIu64
                         "); fewer GPUs, or more NICs on a switch (-npa)",
                         plan->gpus, plan->segments, most, plan->asws_per_psw);
    }
    if (asws == plan->asws) {
        return ORR_OK;
    }
    uint64_t asked = plan->asws;
    plan->asws = asws;
    return notes_add(notes, err,
                     "%" PRIu64 " GPUs need %" PRIu64
                     " switches of the first level: parameter 'leaves' (-asn) is %" PRIu64 " and not %" PRIu64,
                     plan->gpus, asws, asws, asked);
}

static void name_file(const struct plan *plan, struct topo_made *made)
{
    char sizes[64];
    const char *tors = plan->dual_tor ? "DualToR" : "SingleToR";
    const char *planes = plan->dual_plane ? "DualPlane" : "SinglePlane";
    const char *front = plan->template == TOPO_TEMPLATE_SPECTRUM_X ? "Spectrum-X"
                        : plan->template == TOPO_TEMPLATE_HPN      ? "AlibabaHPN"
                        : plan->template == TOPO_TEMPLATE_DCN      ? "DCN+"
                        : plan->rails                              ? "Rail_Opti"
                                                                   : "No_Rail_Opti";
    (void)snprintf(sizes, sizeof sizes, "_%" PRIu64 "g_%" PRIu64 "gps", plan->gpus, plan->per_server);
    size_t room = sizeof made->name;
    if (plan->template == TOPO_TEMPLATE_SPECTRUM_X) {
        (void)snprintf(made->name, room, "%s%s_%s_%s", front, sizes, plan->nic.text, made->gpu_type);
    } else if (plan->template == TOPO_TEMPLATE_DCN) {
        (void)snprintf(made->name, room, "%s%s%s_%s_%s", front, tors, sizes, plan->nic.text, made->gpu_type);
    } else if (plan->rails && plan->dual_tor) {
        (void)snprintf(made->name, room, "%s%s_%s_%s_%s_%s", front, sizes, tors, planes, plan->nic.text,
                       made->gpu_type);
    } else if (plan->rails) {
        (void)snprintf(made->name, room, "%s_%s%s_%s_%s", front, tors, sizes, plan->nic.text, made->gpu_type);
    } else {
        (void)snprintf(made->name, room, "%s%s_%s_%s_%s", front, sizes, tors, plan->nic.text, made->gpu_type);
    }
}

static void topo_template_wire(const struct plan *plan, struct topo_made *made)
{
    uint32_t nvlink = topo_made_class(made, &plan->nvlink, &plan->nvlink_delay);
    uint32_t nic = topo_made_class(made, &plan->nic, &plan->delay);
    uint32_t uplink = topo_made_class(made, &plan->uplink, &plan->delay);
    uint64_t first_asw = made->hosts + made->nvswitches;
    uint64_t first_psw = first_asw + plan->asws;
    uint64_t per_segment = plan->nics_per_asw * plan->rail_count;
    for (uint64_t gpu = 0; gpu < plan->gpus; gpu++) {
        uint64_t server = gpu / plan->per_server;
        uint64_t asw = gpu / per_segment * plan->rail_count + (plan->rails ? gpu % plan->per_server : 0);
        for (uint64_t i = 0; i < plan->nvswitches; i++) {
            topo_made_link(made, (uint32_t)gpu, (uint32_t)(plan->gpus + server * plan->nvswitches + i), nvlink);
        }
        for (uint64_t tor = 0; tor < plan->tors; tor++) {
            topo_made_link(made, (uint32_t)gpu, (uint32_t)(first_asw + tor * (plan->asws / 2) + asw), nic);
        }
    }
    uint64_t half = (plan->psws + 1) / 2; /* of an odd number the first plane has one more */
    for (uint64_t asw = 0; asw < plan->asws; asw++) {
        bool second = plan->dual_plane && asw >= plan->asws / 2;
        uint64_t end = plan->dual_plane && !second ? half : plan->psws;
        for (uint64_t psw = second ? half : 0; psw < end; psw++) {
            topo_made_link(made, (uint32_t)(first_asw + asw), (uint32_t)(first_psw + psw), uplink);
        }
    }
}

enum orr_status topo_template_make(enum topo_template template, const struct topo_settings *settings,
                                   struct notes *notes, struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    struct plan plan = {.template = template};
    enum orr_status status = topo_made_init(made, settings, "H100", mem, err);
    if (status == ORR_OK) {
        status = choose_structure(&plan, settings, notes, err);
    }
    if (status == ORR_OK) {
        status = read_counts(&plan, settings, err);
    }
    if (status == ORR_OK) {
        status = read_quantities(&plan, settings, err);
    }
    if (status == ORR_OK) {
        status = topo_template_size_up(&plan, notes, err);
    }
    if (status == ORR_OK) {
        uint64_t servers = plan.gpus / plan.per_server;
        status = topo_made_nodes(made, plan.gpus, servers * plan.nvswitches, plan.asws + plan.psws, err);
    }
    if (status == ORR_OK) {
        uint64_t uplinks = plan.asws * plan.psws / (plan.dual_plane ? 2 : 1);
        status = topo_made_expect(made, uplinks + plan.gpus * (plan.tors + plan.nvswitches), err);
    }
    if (status != ORR_OK) {
        return status;
    }
    made->simai = true;
    made->gpus_per_server = (uint32_t)plan.per_server;
    made->leaves = (uint32_t)plan.asws;
    made->spines = (uint32_t)plan.psws;
    made->segments = (uint32_t)plan.segments;
    if (plan.gpus % plan.per_server == 0) {
        topo_made_dim(made, plan.per_server);
        topo_made_dim(made, plan.gpus / plan.per_server);
    } else {
        topo_made_dim(made, plan.gpus);
    }
    name_file(&plan, made);
    topo_template_wire(&plan, made);
    return topo_made_end(made, err);
}
