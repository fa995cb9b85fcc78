/* SPDX-License-Identifier: Apache-2.0 */
/* A generator is a row: its name, what it takes and a function. So the list of machines, the check of settings, the
 * help and the documentation come from one place. */
#include "topo/make/make.h"

#include <string.h>
#include <strings.h>

#include "presets.h"
#include "topo/make/grammar.h"
#include "topo/make/grid.h"
#include "topo/make/shapes.h"
#include "topo/make/template.h"
#include "topo/make/tree.h"

#define BIT(id) (UINT64_C(1) << TOPO_SET_##id)

/* Links and GPUs of all machines can be lossy and have a type. */
#define TAKEN_BY_ALL (BIT(LOSS) | BIT(GPU_TYPE))

#define SERVER_TAKES                                                                                                   \
    (BIT(NODES) | BIT(GPUS_PER_NODE) | BIT(NVSWITCHES) | BIT(NVLINK_BANDWIDTH) | BIT(NVLINK_LATENCY) |                 \
     BIT(BANDWIDTH) | BIT(LATENCY) | BIT(SPINES) | BIT(OVERSUBSCRIPTION))
#define MESHED_TAKES (SERVER_TAKES & ~(BIT(NVSWITCHES) | BIT(GPUS_PER_NODE)))
#define LINK_TAKES   (BIT(BANDWIDTH) | BIT(LATENCY))
#define GRID_TAKES   (LINK_TAKES | BIT(HOST_BANDWIDTH) | BIT(HOST_LATENCY) | BIT(DIRECT))
#define TEMPLATE_TAKES                                                                                                 \
    (LINK_TAKES | BIT(HOSTS) | BIT(GPUS_PER_NODE) | BIT(NVSWITCHES) | BIT(LEAVES) | BIT(PER_LEAF) | BIT(SPINES) |      \
     BIT(LEAVES_PER_SPINE) | BIT(SPINE_BANDWIDTH) | BIT(NVLINK_BANDWIDTH) | BIT(NVLINK_LATENCY) |                      \
     BIT(RAIL_OPTIMIZED) | BIT(DUAL_TOR) | BIT(DUAL_PLANE))
#define FAT_TREE_TAKES                                                                                                 \
    (LINK_TAKES | BIT(HOSTS) | BIT(LEVELS) | BIT(ARITY) | BIT(LEAVES) | BIT(PER_LEAF) | BIT(SPINES) |                  \
     BIT(OVERSUBSCRIPTION))
#define DRAGONFLY_TAKES (LINK_TAKES | BIT(ROUTERS) | BIT(PER_ROUTER) | BIT(GLOBAL_LINKS) | BIT(GROUPS))

static enum orr_status make_template(const struct topo_preset *self, const struct topo_settings *settings,
                                     struct notes *notes, struct topo_made *made, struct mem *mem,
                                     struct orr_error *err)
{
    return topo_template_make((enum topo_template)self->variant, settings, notes, made, mem, err);
}

static enum orr_status make_server(const struct topo_preset *self, const struct topo_settings *settings,
                                   struct notes *notes, struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    (void)notes;
    return topo_tree_servers(topo_server_find(self->name), settings, made, mem, err);
}

static enum orr_status make_grid(const struct topo_preset *self, const struct topo_settings *settings,
                                 struct notes *notes, struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    (void)notes;
    return topo_grid_make((enum topo_grid)self->variant, settings, made, mem, err);
}

enum other { RAIL_ONLY, SINGLE_SWITCH, FAT_TREE, FULLY_CONNECTED, DRAGONFLY };

static enum orr_status make_other(const struct topo_preset *self, const struct topo_settings *settings,
                                  struct notes *notes, struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    (void)notes;
    switch ((enum other)self->variant) {
    case RAIL_ONLY:
        return topo_tree_rail_only(settings, made, mem, err);
    case SINGLE_SWITCH:
        return topo_tree_switch(settings, made, mem, err);
    case FAT_TREE:
        return topo_tree_fat(settings, made, mem, err);
    case FULLY_CONNECTED:
        return topo_fully_connected_make(settings, made, mem, err);
    case DRAGONFLY:
        break;
    }
    return topo_dragonfly_make(settings, made, mem, err);
}

#define NODE_OF "1 node; more are on rails of 500 ns below spines without oversubscription; "

#define TAKES_NONE     MESHED_TAKES
#define TAKES_NVSWITCH SERVER_TAKES
#define TAKES_PCIE     MESHED_TAKES
#define TAKES_MESH     MESHED_TAKES
#define TAKES_PAIRS    MESHED_TAKES

static const struct topo_preset presets[] = {
#define SERVER_X(name, synonyms, summary, defaults, type, device, gpus, fabric, ...)                                   \
    {name, summary, NODE_OF defaults, TAKES_##fabric, make_server, 0},
    PRESET_SERVERS(SERVER_X)
#undef SERVER_X
        {"single-switch", "GPUs on one switch", "8 GPUs, 400Gbps 500ns", LINK_TAKES | BIT(HOSTS), make_other,
         SINGLE_SWITCH},
    {"ring", "GPUs in a ring", "8 GPUs, 400Gbps 500ns", GRID_TAKES | BIT(HOSTS), make_grid, TOPO_GRID_RING},
    {"mesh", "a grid of any dimensions, open at its ends", "4x4, 400Gbps 500ns", GRID_TAKES | BIT(DIMS), make_grid,
     TOPO_GRID_MESH},
    {"torus", "a grid of any dimensions, closed", "4x4x8, 400Gbps 500ns", GRID_TAKES | BIT(DIMS), make_grid,
     TOPO_GRID_TORUS},
    {"twisted-torus", "a torus whose closing links move along another dimension", "4x4x8, 400Gbps 500ns, twist 0:1:1",
     GRID_TAKES | BIT(DIMS) | BIT(TWIST), make_grid, TOPO_GRID_TWISTED},
    {"fat-tree", "levels of switches, each with as much up as down",
     "3 levels of 8 ports: 128 GPUs, 400Gbps 500ns; with parameter 'per-leaf', parameter 'leaves' or parameter "
     "'spines' 2 levels, 8 GPUs a leaf",
     FAT_TREE_TAKES, make_other, FAT_TREE},
    {"dragonfly", "groups of routers, all joined to all inside and between",
     "4 routers of 2 GPUs and 2 global links, "
     "9 groups: 72 GPUs, 400Gbps 500ns",
     DRAGONFLY_TAKES, make_other, DRAGONFLY},
    {"rail-only", "rails without spines; GPUs pass on what is for another rail",
     "4 nodes of 8 GPUs; NVLink 3600Gbps 25ns, NICs 400Gbps 500ns",
     (SERVER_TAKES & ~(BIT(SPINES) | BIT(OVERSUBSCRIPTION))) | BIT(DIRECT), make_other, RAIL_ONLY},
    {"fully-connected", "each GPU joined to each", "8 GPUs, 400Gbps 500ns", LINK_TAKES | BIT(HOSTS), make_other,
     FULLY_CONNECTED},
    {"Spectrum-X", "SimAI's template: rails, one ToR", "4096 GPUs, NICs 400Gbps", TEMPLATE_TAKES, make_template,
     TOPO_TEMPLATE_SPECTRUM_X},
    {"AlibabaHPN", "SimAI's template: rails, two ToRs, one plane or two", "15360 GPUs, NICs 200Gbps", TEMPLATE_TAKES,
     make_template, TOPO_TEMPLATE_HPN},
    {"DCN+", "SimAI's template: no rails, one ToR or two", "512 GPUs, NICs 400Gbps", TEMPLATE_TAKES, make_template,
     TOPO_TEMPLATE_DCN},
    {"custom", "SimAI's template without a name", "32 GPUs, NICs 400Gbps", TEMPLATE_TAKES, make_template,
     TOPO_TEMPLATE_CUSTOM},
};

enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

const struct topo_preset *topo_preset_at(size_t index)
{
    return index < PRESET_COUNT ? &presets[index] : NULL;
}

bool topo_preset_takes(const struct topo_preset *preset, enum topo_setting id)
{
    return ((preset->takes | TAKEN_BY_ALL) >> id & 1) != 0;
}

/* A line says everything itself. */
static const struct topo_preset line_preset = {.name = "a machine in one line"};

/* The options that it takes, as far as there is room. */
static void list_taken(const struct topo_preset *preset, char *list, size_t size)
{
    size_t used = 0;
    for (unsigned id = 0; id < TOPO_SET_COUNT; id++) {
        if (topo_preset_takes(preset, (enum topo_setting)id)) {
            int length = snprintf(list + used, size - used, "%s%s", used == 0 ? "" : ", ",
                                  topo_setting_name((enum topo_setting)id));
            used = length > 0 && used + (size_t)length < size ? used + (size_t)length : used;
        }
    }
}

/* Names that are whole machines are often tried as the first word of a line (torus:4x4). */
static enum orr_status topo_make_check_line(const char *line, struct orr_error *err)
{
    char list[512] = "";
    size_t length = strcspn(line, " :,>");
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        const struct topo_preset *preset = &presets[i];
        if (preset->make != make_server && strlen(preset->name) == length &&
            strncasecmp(preset->name, line, length) == 0) {
            list_taken(preset, list, sizeof list);
            return error_set(err, ORR_EINVAL, "%s is not part of a line: it is made by its name alone and takes %s",
                             preset->name, list);
        }
    }
    return ORR_OK;
}

static enum orr_status check_taken(const struct topo_preset *preset, const struct topo_settings *settings,
                                   struct orr_error *err)
{
    char list[512] = "";
    enum topo_setting surplus = TOPO_SET_COUNT;
    list_taken(preset, list, sizeof list);
    for (unsigned id = 0; id < TOPO_SET_COUNT; id++) {
        if (!topo_preset_takes(preset, (enum topo_setting)id) && topo_settings_has(settings, (enum topo_setting)id) &&
            surplus == TOPO_SET_COUNT) {
            surplus = (enum topo_setting)id;
        }
    }
    return surplus == TOPO_SET_COUNT ? ORR_OK
                                     : error_set(err, ORR_EINVAL, "%s has no %s; it takes %s", preset->name,
                                                 topo_setting_name(surplus), list);
}

static enum orr_status unknown_name(const char *what, struct orr_error *err)
{
    const char *names[PRESET_COUNT + 1] = {NULL};
    for (const char *c = what; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) { /* the message would repeat it */
            return error_set(err, ORR_EINVAL, "the name of a machine has a control character in it");
        }
    }
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        names[i] = presets[i].name;
    }
    struct error_proposal near = error_propose(what, names);
    return error_set(err, ORR_EINVAL, "unknown machine \"%.60s\"%s", what,
                     near.text[0] != '\0' ? near.text : "; orrery topo list names all");
}

enum orr_status topo_preset_find(const char *name, const struct topo_preset **preset, struct orr_error *err)
{
    const struct topo_server *server = topo_server_find(name); /* by a synonym too */
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        if (strcasecmp(presets[i].name, server != NULL ? server->name : name) == 0) {
            *preset = &presets[i];
            return ORR_OK;
        }
    }
    return unknown_name(name, err);
}

enum orr_status topo_make(const char *what, const struct topo_settings *settings, struct notes *notes,
                          struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    const struct topo_preset *preset = &line_preset;
    bool line = topo_grammar_is_line(what);
    enum orr_status status = line ? topo_make_check_line(what, err) : topo_preset_find(what, &preset, err);
    *made = (struct topo_made){0};
    if (status == ORR_OK) {
        status = check_taken(preset, settings, err);
    }
    if (status == ORR_OK && line) {
        status = topo_tree_line(what, settings, made, mem, err);
    } else if (status == ORR_OK) {
        struct topo_settings named = *settings;
        named.what = preset->name;
        status = preset->make(preset, &named, notes, made, mem, err);
    }
    if (status != ORR_OK) {
        topo_made_free(made);
    }
    return status;
}
