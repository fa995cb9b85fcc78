/* SPDX-License-Identifier: Apache-2.0 */
/* Every one of these only fills a struct topo_levels: counting and wiring are done in one place. */
#include "topo/make/tree.h"

#include <inttypes.h>
#include <string.h>

#include "topo/make/grammar.h"

/* A level's rate and delay from the lists; a rate that is also to follow from a ratio must be said for this level. */
static enum orr_status take_link(const struct topo_settings *settings, unsigned at, struct topo_level *level,
                                 struct orr_error *err)
{
    const char *rates = settings->value[TOPO_SET_BANDWIDTH];
    unsigned commas = 0;
    for (const char *c = rates != NULL ? rates : ""; *c != '\0'; c++) {
        commas += *c == ',' ? 1 : 0;
    }
    enum orr_status status = ORR_OK;
    level->has_rate = rates != NULL && (commas >= at || !level->has_ratio);
    level->has_delay = topo_settings_has(settings, TOPO_SET_LATENCY);
    if (level->has_rate) {
        status = topo_settings_rate(settings, TOPO_SET_BANDWIDTH, at, "", &level->rate, err);
    }
    if (status == ORR_OK && level->has_delay) {
        status = topo_settings_time(settings, TOPO_SET_LATENCY, at, "", &level->delay, err);
    }
    return status;
}

static enum orr_status take_server(const struct topo_settings *settings, struct topo_levels *levels,
                                   struct orr_error *err)
{
    const struct topo_server *server = levels->server;
    enum orr_status status = topo_settings_count(settings, TOPO_SET_NVSWITCHES, 1, 1, 1024, &levels->switches, err);
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_GPUS_PER_NODE, server->gpus, 1, 4096, &levels->gpus, err);
    }
    levels->has_rate = topo_settings_has(settings, TOPO_SET_NVLINK_BANDWIDTH);
    levels->has_delay = topo_settings_has(settings, TOPO_SET_NVLINK_LATENCY);
    if (status == ORR_OK) {
        status = topo_settings_rate(settings, TOPO_SET_NVLINK_BANDWIDTH, 0, server->rate, &levels->rate, err);
    }
    return status == ORR_OK
               ? topo_settings_time(settings, TOPO_SET_NVLINK_LATENCY, 0, server->delay, &levels->delay, err)
               : status;
}

static enum orr_status make_levels(const struct topo_settings *settings, const struct topo_levels *levels,
                                   struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    enum orr_status status = topo_made_init(made, settings, levels->server->gpu_type, mem, err);
    return status == ORR_OK ? topo_levels_make(levels, made, err) : status;
}

/* Spines and oversubscription of the level above the first. */
static enum orr_status take_spines(const struct topo_settings *settings, struct topo_level *level,
                                   struct orr_error *err)
{
    *level = (struct topo_level){.kind = TOPO_LEVEL_UPPER, .name = "spine"};
    enum orr_status status = topo_settings_count(settings, TOPO_SET_SPINES, 0, 1, TOPO_NODES_MOST, &level->count, err);
    if (status == ORR_OK) {
        level->has_ratio = topo_settings_has(settings, TOPO_SET_OVERSUBSCRIPTION);
        status = topo_settings_ratio(settings, TOPO_SET_OVERSUBSCRIPTION, &level->down, &level->up, err);
    }
    return status == ORR_OK ? take_link(settings, 1, level, err) : status;
}

enum orr_status topo_tree_servers(const struct topo_server *server, const struct topo_settings *settings,
                                  struct topo_made *made, struct mem *mem, struct orr_error *err)
{
    struct topo_levels levels = {.server = server};
    enum orr_status status = topo_settings_count(settings, TOPO_SET_NODES, 1, 1, TOPO_NODES_MOST, &levels.servers, err);
    if (status == ORR_OK) {
        status = take_server(settings, &levels, err);
    }
    if (status == ORR_OK && levels.servers > 1) {
        levels.level_count = 2;
        levels.level[0] = (struct topo_level){.kind = TOPO_LEVEL_RAIL, .name = "rail"};
        status = take_link(settings, 0, &levels.level[0], err);
        if (status == ORR_OK) {
            status = take_spines(settings, &levels.level[1], err);
        }
    }
    return status == ORR_OK ? make_levels(settings, &levels, made, mem, err) : status;
}

enum orr_status topo_tree_rail_only(const struct topo_settings *settings, struct topo_made *made, struct mem *mem,
                                    struct orr_error *err)
{
    struct topo_levels levels = {.server = topo_server_find("dgx-h100"), .level_count = 1};
    levels.forward = !topo_settings_has(settings, TOPO_SET_DIRECT);
    levels.level[0] = (struct topo_level){.kind = TOPO_LEVEL_RAIL, .name = "rail"};
    enum orr_status status = topo_settings_count(settings, TOPO_SET_NODES, 4, 2, TOPO_NODES_MOST, &levels.servers, err);
    if (status == ORR_OK) {
        status = take_server(settings, &levels, err);
    }
    if (status == ORR_OK) {
        status = take_link(settings, 0, &levels.level[0], err);
    }
    return status == ORR_OK ? make_levels(settings, &levels, made, mem, err) : status;
}

enum orr_status topo_tree_switch(const struct topo_settings *settings, struct topo_made *made, struct mem *mem,
                                 struct orr_error *err)
{
    struct topo_levels levels = {.server = topo_server_find("gpu"), .level_count = 1};
    levels.level[0] = (struct topo_level){.kind = TOPO_LEVEL_LEAF, .name = "switch"};
    enum orr_status status = topo_settings_count(settings, TOPO_SET_HOSTS, 8, 1, TOPO_NODES_MOST, &levels.servers, err);
    if (status == ORR_OK) {
        status = take_link(settings, 0, &levels.level[0], err);
    }
    return status == ORR_OK ? make_levels(settings, &levels, made, mem, err) : status;
}

/* Two levels, each leaf on each spine. */
static enum orr_status size_leaf_spine(const struct topo_settings *settings, struct topo_levels *levels,
                                       struct orr_error *err)
{
    uint64_t leaves = 0;
    uint64_t per_leaf = 0;
    if (topo_settings_has(settings, TOPO_SET_ARITY) || topo_settings_has(settings, TOPO_SET_LEVELS)) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'arity' and parameter 'levels' say a tree in one way, parameter 'leaves', "
                         "parameter 'per-leaf' and "
                         "parameter 'spines' in another: use one of them");
    }
    enum orr_status status = topo_settings_count(settings, TOPO_SET_PER_LEAF, 0, 1, TOPO_NODES_MOST, &per_leaf, err);
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_LEAVES, 0, 1, TOPO_NODES_MOST, &leaves, err);
    }
    uint64_t hosts = leaves != 0 && per_leaf != 0 ? leaves * per_leaf : 128;
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_HOSTS, hosts, 1, TOPO_NODES_MOST, &levels->servers, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    per_leaf = per_leaf != 0 ? per_leaf : leaves != 0 ? (levels->servers + leaves - 1) / leaves : 8;
    uint64_t filled = (levels->servers + per_leaf - 1) / per_leaf;
    if (leaves != 0 && leaves != filled) {
        return error_set(err, ORR_EINVAL,
                         "%" PRIu64 " GPUs, %" PRIu64 " a leaf, are on %" PRIu64 " leaves, not %" PRIu64,
                         levels->servers, per_leaf, filled, leaves);
    }
    levels->level_count = 2;
    levels->level[0] = (struct topo_level){.kind = TOPO_LEVEL_LEAF, .name = "leaf", .count = filled, .share = per_leaf};
    status = take_link(settings, 0, &levels->level[0], err);
    return status == ORR_OK ? take_spines(settings, &levels->level[1], err) : status;
}

/* The ports of a switch of the first level, down and up. */
static enum orr_status split_ports(const struct topo_settings *settings, uint64_t arity, uint64_t *down, uint64_t *up,
                                   struct orr_error *err)
{
    uint64_t ratio[2] = {1, 1};
    enum orr_status status = topo_settings_ratio(settings, TOPO_SET_OVERSUBSCRIPTION, &ratio[0], &ratio[1], err);
    if (status == ORR_OK && (arity % 2 != 0 || arity * ratio[0] % (ratio[0] + ratio[1]) != 0)) {
        status = error_set(err, ORR_EINVAL,
                           "parameter 'arity': %" PRIu64 " ports do not divide into %" PRIu64 ":%" PRIu64
                           " down and up, or not into two halves",
                           arity, ratio[0], ratio[1]);
    }
    *down = arity * ratio[0] / (ratio[0] + ratio[1]);
    *up = arity - *down;
    return status;
}

static enum orr_status size_k_ary(const struct topo_settings *settings, struct topo_levels *levels,
                                  struct orr_error *err)
{
    uint64_t arity = 0;
    uint64_t count = 0;
    uint64_t down = 0;
    uint64_t up = 0;
    enum orr_status status = topo_settings_count(settings, TOPO_SET_ARITY, 8, 2, 4096, &arity, err);
    if (status == ORR_OK) {
        status = topo_settings_count(settings, TOPO_SET_LEVELS, 3, 1, TOPO_LEVELS_MOST, &count, err);
    }
    if (status == ORR_OK) {
        status = split_ports(settings, arity, &down, &up, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    uint64_t half = arity / 2;
    uint64_t leaves = count == 1 ? 1 : arity;
    for (uint64_t i = 2; i < count && leaves <= TOPO_NODES_MOST; i++) {
        leaves *= half;
    }
    uint64_t most = count == 1 ? arity : down * leaves;
    down = count == 1 ? arity : down;
    status = topo_settings_count(settings, TOPO_SET_HOSTS, most, 1, most < TOPO_NODES_MOST ? most : TOPO_NODES_MOST,
                                 &levels->servers, err);
    levels->level_count = (unsigned)count;
    levels->level[0] = (struct topo_level){
        .kind = TOPO_LEVEL_LEAF, .name = "leaf", .count = (levels->servers + down - 1) / down, .share = down};
    uint64_t in_group = up;
    uint64_t share = half; /* switches below in a group */
    for (unsigned at = 1; at < count; at++) {
        bool top = at + 1 == count;
        levels->level[at] = (struct topo_level){.kind = TOPO_LEVEL_UPPER,
                                                .name = top ? "core" : "spine",
                                                .count = in_group,
                                                .share = top ? 0 : share,
                                                .planes = true};
        share = in_group * half;
        in_group *= half;
    }
    for (unsigned at = 0; at < count && status == ORR_OK; at++) {
        status = take_link(settings, at, &levels->level[at], err);
    }
    return status;
}

enum orr_status topo_tree_fat(const struct topo_settings *settings, struct topo_made *made, struct mem *mem,
                              struct orr_error *err)
{
    struct topo_levels levels = {.server = topo_server_find("gpu")};
    bool named = topo_settings_has(settings, TOPO_SET_LEAVES) || topo_settings_has(settings, TOPO_SET_PER_LEAF) ||
                 topo_settings_has(settings, TOPO_SET_SPINES);
    enum orr_status status = named ? size_leaf_spine(settings, &levels, err) : size_k_ary(settings, &levels, err);
    return status == ORR_OK ? make_levels(settings, &levels, made, mem, err) : status;
}

enum orr_status topo_tree_line(const char *line, const struct topo_settings *settings, struct topo_made *made,
                               struct mem *mem, struct orr_error *err)
{
    struct topo_levels levels;
    enum orr_status status = topo_grammar_read(line, &levels, err);
    return status == ORR_OK ? make_levels(settings, &levels, made, mem, err) : status;
}
