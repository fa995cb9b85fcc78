/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes are chosen for what they are, not for how many: all numbers up to 16, so that every remainder and every power
 * of two with its neighbours is there; then 32 and 64; grids of two and three dimensions, odd ones among them. The
 * whole table takes a fraction of a second.
 */
#include "api/doctor/collectives.h"

#include <inttypes.h>
#include <string.h>

#include "api/doctor/flows.h"
#include "api/doctor/steps.h"

enum row_kind {
    ROW_LINE,   /* 2 to 16, 32 and 64 members, both ways round */
    ROW_SMALL,  /* 2 to 8 members, both ways round */
    ROW_ROOTED, /* 2 to 16 members, every root */
    ROW_GRID,   /* several dimensions, scattering and dimension by dimension */
    ROW_NCCL,
    ROW_NCCL_ROOTED,
    ROW_NCCL_SERVER, /* one server */
    ROW_NCCL_SWITCHES,
};

static const char *const sizes_of[] = {
    [ROW_LINE] = "2 to 16, 32, 64 members",      [ROW_SMALL] = "2 to 8 members",
    [ROW_ROOTED] = "2 to 16, every root",        [ROW_GRID] = "grids of 6 to 64 members",
    [ROW_NCCL] = "2 to 32 GPUs, 1-4 servers",    [ROW_NCCL_ROOTED] = "2 to 32 GPUs, 3 roots",
    [ROW_NCCL_SERVER] = "2 to 8 GPUs, 1 server", [ROW_NCCL_SWITCHES] = "2 to 32 GPUs, odd groups",
};

static const struct row {
    const char *algorithm;
    enum row_kind kind;
    enum coll_algo algo;
    enum nccl_algo nccl;
    enum coll_type type;
} rows[] = {
    {"ring", ROW_LINE, COLL_RING, 0, COLL_ALL_REDUCE},
    {"ring", ROW_LINE, COLL_RING, 0, COLL_REDUCE_SCATTER},
    {"ring", ROW_LINE, COLL_RING, 0, COLL_ALL_GATHER},
    {"ring", ROW_SMALL, COLL_RING, 0, COLL_ALL_TO_ALL},
    {"ring", ROW_GRID, COLL_RING, 0, COLL_ALL_REDUCE},
    {"ring", ROW_GRID, COLL_RING, 0, COLL_REDUCE_SCATTER},
    {"ring", ROW_GRID, COLL_RING, 0, COLL_ALL_GATHER},
    {"direct", ROW_LINE, COLL_DIRECT, 0, COLL_ALL_REDUCE},
    {"direct", ROW_LINE, COLL_DIRECT, 0, COLL_REDUCE_SCATTER},
    {"direct", ROW_LINE, COLL_DIRECT, 0, COLL_ALL_GATHER},
    {"direct", ROW_SMALL, COLL_DIRECT, 0, COLL_ALL_TO_ALL},
    {"direct", ROW_GRID, COLL_DIRECT, 0, COLL_ALL_REDUCE},
    {"halvingDoubling", ROW_LINE, COLL_HALVING_DOUBLING, 0, COLL_ALL_REDUCE},
    {"halvingDoubling", ROW_LINE, COLL_HALVING_DOUBLING, 0, COLL_REDUCE_SCATTER},
    {"halvingDoubling", ROW_LINE, COLL_HALVING_DOUBLING, 0, COLL_ALL_GATHER},
    {"halvingDoubling", ROW_GRID, COLL_HALVING_DOUBLING, 0, COLL_ALL_REDUCE},
    {"doubleBinaryTree", ROW_LINE, COLL_DOUBLE_BINARY_TREE, 0, COLL_ALL_REDUCE},
    {"binomial tree", ROW_ROOTED, COLL_RING, 0, COLL_BROADCAST},
    {"binomial tree", ROW_ROOTED, COLL_RING, 0, COLL_REDUCE},
    {"binomial tree", ROW_ROOTED, COLL_RING, 0, COLL_GATHER},
    {"binomial tree", ROW_ROOTED, COLL_RING, 0, COLL_SCATTER},
    {"ncclRing", ROW_NCCL, COLL_NCCL, NCCL_RING, COLL_ALL_REDUCE},
    {"ncclRing", ROW_NCCL, COLL_NCCL, NCCL_RING, COLL_REDUCE_SCATTER},
    {"ncclRing", ROW_NCCL, COLL_NCCL, NCCL_RING, COLL_ALL_GATHER},
    {"ncclRing", ROW_NCCL_ROOTED, COLL_NCCL, NCCL_RING, COLL_BROADCAST},
    {"ncclRing", ROW_NCCL_ROOTED, COLL_NCCL, NCCL_RING, COLL_REDUCE},
    {"ncclTree", ROW_NCCL, COLL_NCCL, NCCL_TREE, COLL_ALL_REDUCE},
    {"ncclNvls", ROW_NCCL_SERVER, COLL_NCCL, NCCL_NVLS, COLL_ALL_REDUCE},
    {"ncclCollnet", ROW_NCCL_SWITCHES, COLL_NCCL, NCCL_COLLNET, COLL_ALL_REDUCE},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct {
    uint32_t dims[DOCTOR_DIMS_MOST], count;
} grids[] = {{{2, 3}, 2},    {{2, 4}, 2},    {{4, 4}, 2},    {{5, 3}, 2},   {{8, 8}, 2},
             {{2, 2, 2}, 3}, {{3, 2, 2}, 3}, {{4, 4, 2}, 3}, {{4, 2, 8}, 3}};

static const struct {
    uint32_t gpus, per_server;
} clusters[] = {{2, 2}, {3, 3}, {4, 4}, {8, 8}, {4, 2}, {8, 4}, {16, 8}, {24, 8}, {32, 8}, {6, 2}};

/* Groups that do not fill their servers: all of two or more, some of one, one of each, and so on. */
static const struct {
    uint32_t gpus, per_server;
    uint64_t members;
} odd_groups[] = {{2, 1, 0},           {5, 1, 0},       {11, 4, 0},         {16, 8, 0x0007},
                  {16, 8, 0x0107},     {16, 8, 0xff01}, {16, 8, 0x8001},    {32, 8, 0x01ff8003},
                  {32, 8, 0x80808080}, {12, 3, 0xb6d},  {32, 4, 0xf731137f}};

/* The row being filled. */
struct filling {
    const struct row *row;
    struct doctor_check *check;
    struct arena *arena; /* of the report */
    struct mem *mem;
    uint64_t spoiled;
    struct orr_error *err;
};

/* One act in an arena of its own. What is wrong goes into the row, the first of it; ORR_OK then too. */
static enum orr_status doctor_collectives_tell(struct filling *filling, enum orr_status status, uint64_t messages,
                                               const struct orr_error *wrong, const char *where)
{
    filling->check->acts++;
    filling->check->messages += messages;
    if (status == ORR_OK || filling->check->wrong != NULL) {
        return ORR_OK;
    }
    if (status != ORR_EFAIL) {
        return error_set(filling->err, status, "%s", wrong->text);
    }
    filling->check->wrong = arena_printf(filling->arena, "%s: %s", where, wrong->text);
    return filling->check->wrong != NULL ? ORR_OK : mem_error(filling->arena->mem, "the report", filling->err);
}

static enum orr_status try_act(struct filling *filling, struct doctor_act act)
{
    struct arena arena;
    struct orr_error wrong = {0};
    uint64_t messages = 0;
    char where[80];
    act.algo = filling->row->algo;
    act.type = filling->row->type;
    (void)snprintf(where, sizeof where, "%" PRIu32 "x%" PRIu32 "x%" PRIu32 ", root %" PRIu32 "%s", act.dims[0],
                   act.dim_count > 1 ? act.dims[1] : 1, act.dim_count > 2 ? act.dims[2] : 1, act.root,
                   act.backwards ? ", backwards" : "");
    arena_init(&arena, filling->mem);
    enum orr_status status = doctor_act_run(&act, filling->spoiled, &arena, &messages, &wrong);
    arena_free(&arena);
    return doctor_collectives_tell(filling, status, messages, &wrong, where);
}

static enum orr_status try_flows(struct filling *filling, struct doctor_flow_act act)
{
    struct arena arena;
    struct orr_error wrong = {0};
    uint64_t messages = 0;
    char where[80];
    act.algo = filling->row->nccl;
    act.type = filling->row->type;
    (void)snprintf(where, sizeof where, "%" PRIu32 " GPUs, %" PRIu32 " a server, root %" PRIu32, act.gpus,
                   act.gpus_per_server, act.root);
    arena_init(&arena, filling->mem);
    enum orr_status status = doctor_flow_act_run(&act, filling->spoiled, &arena, &messages, &wrong);
    arena_free(&arena);
    return doctor_collectives_tell(filling, status, messages, &wrong, where);
}

static enum orr_status fill_line(struct filling *filling)
{
    bool small = filling->row->kind == ROW_SMALL;
    /* Only rings and direct exchanges have a direction. */
    bool turns = filling->row->algo == COLL_RING || filling->row->algo == COLL_DIRECT;
    enum orr_status status = ORR_OK;
    for (uint32_t n = 2; n <= (small ? 8u : 64u) && status == ORR_OK; n = n < 16 ? n + 1 : 2 * n) {
        status = try_act(filling, (struct doctor_act){.dims = {n}, .dim_count = 1});
        if (status == ORR_OK && turns) {
            status = try_act(filling, (struct doctor_act){.dims = {n}, .dim_count = 1, .backwards = true});
        }
    }
    return status;
}

static enum orr_status fill_rooted(struct filling *filling)
{
    enum orr_status status = ORR_OK;
    for (uint32_t n = 2; n <= 16; n++) {
        for (uint32_t root = 0; root < n && status == ORR_OK; root++) {
            status = try_act(filling, (struct doctor_act){.dims = {n}, .dim_count = 1, .root = root});
        }
    }
    return status;
}

static enum orr_status doctor_collectives_fill_grid(struct filling *filling)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof grids / sizeof grids[0] && status == ORR_OK; i++) {
        struct doctor_act act = {.dim_count = grids[i].count};
        bool powers = true;
        for (uint32_t d = 0; d < act.dim_count; d++) {
            act.dims[d] = grids[i].dims[d];
            powers = powers && (act.dims[d] & (act.dims[d] - 1)) == 0;
        }
        if (filling->row->algo == COLL_HALVING_DOUBLING && !powers) {
            continue;
        }
        for (unsigned way = 0; way < 4 && status == ORR_OK; way++) {
            act.backwards = way % 2 != 0;
            act.dim_by_dim = way / 2 != 0;
            status = try_act(filling, act);
        }
    }
    return status;
}

static enum orr_status fill_nccl(struct filling *filling)
{
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < sizeof clusters / sizeof clusters[0]; i++) {
        struct doctor_flow_act act = {.gpus = clusters[i].gpus, .gpus_per_server = clusters[i].per_server};
        if (filling->row->kind == ROW_NCCL_SERVER && act.gpus != act.gpus_per_server) {
            continue;
        }
        uint32_t roots = filling->row->kind == ROW_NCCL_ROOTED ? 3 : 1;
        for (uint32_t r = 0; r < roots && status == ORR_OK; r++) {
            act.root = r * (act.gpus - 1) / 2;
            status = try_flows(filling, act);
        }
    }
    return status;
}

static enum orr_status fill_switches(struct filling *filling)
{
    enum {
        WAYS = 6
    }; /* with and without switches in the servers, and all on the root, one or three to a switch below */
    size_t whole = sizeof clusters / sizeof clusters[0];
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < WAYS * (whole + sizeof odd_groups / sizeof odd_groups[0]) && status == ORR_OK; i++) {
        size_t at = i / WAYS;
        struct doctor_flow_act act = {.is_meshed = i % 2 == 1, .heads_on_switch = (uint32_t)(i / 2 % 3 * 3 / 2)};
        act.gpus = at < whole ? clusters[at].gpus : odd_groups[at - whole].gpus;
        act.gpus_per_server = at < whole ? clusters[at].per_server : odd_groups[at - whole].per_server;
        act.members = at < whole ? 0 : odd_groups[at - whole].members;
        status = try_flows(filling, act);
    }
    return status;
}

static enum orr_status doctor_collectives_fill(struct filling *filling)
{
    switch (filling->row->kind) {
    case ROW_LINE:
    case ROW_SMALL:
        return fill_line(filling);
    case ROW_ROOTED:
        return fill_rooted(filling);
    case ROW_GRID:
        return doctor_collectives_fill_grid(filling);
    case ROW_NCCL_SWITCHES:
        return fill_switches(filling);
    default:
        return fill_nccl(filling);
    }
}

enum orr_status doctor_collectives_run(uint64_t spoiled, struct arena *arena, const struct doctor_check **checks,
                                       uint32_t *count, struct orr_error *err)
{
    struct doctor_check *made = arena_zalloc(arena, ROWS * sizeof *made);
    enum orr_status status = ORR_OK;
    if (made == NULL) {
        return mem_error(arena->mem, "the report", err);
    }
    for (uint32_t i = 0; i < ROWS && status == ORR_OK; i++) {
        struct filling filling = {
            .row = &rows[i], .check = &made[i], .arena = arena, .mem = arena->mem, .spoiled = spoiled, .err = err};
        made[i].algorithm = rows[i].algorithm;
        made[i].collective = coll_type_name((int32_t)rows[i].type);
        made[i].sizes = sizes_of[rows[i].kind];
        status = doctor_collectives_fill(&filling);
    }
    if (status == ORR_OK) {
        *checks = made;
        *count = ROWS;
    }
    return status;
}
