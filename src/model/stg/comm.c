/* SPDX-License-Identifier: Apache-2.0 */
/* Each layout fills a small table, one row a symbol; the rule itself compares two rows. */
#include "model/stg/comm.h"

enum hold { HOLD_WHOLE, HOLD_SPLIT, HOLD_PARTIAL };

struct held {
    enum hold hold;
    uint32_t dim; /* HOLD_SPLIT: the dimension */
};

static bool stands_in(const struct stg_space *space, uint32_t dim, enum stg_symbol symbol)
{
    return (stg_expr_symbols(&space->exprs, dim) >> symbol & 1) != 0;
}

static void hold_each(const struct stg_space *space, const struct stg_rules *rules, uint32_t shape, enum hold hold,
                      struct held *held)
{
    uint32_t count = 0;
    const uint32_t *dims = stg_shape_dims(space, shape, &count);
    for (uint32_t s = 0; s < rules->count; s++) {
        for (uint32_t d = 0; d < count && held[s].hold == HOLD_WHOLE; d++) {
            if (stands_in(space, dims[d], rules->symbols[s])) {
                held[s] = (struct held){hold, dims[d]};
            }
        }
    }
}

static void stg_comm_look(const struct stg_space *space, const struct stg_rules *rules, struct stg_layout layout,
                          struct held held[STG_PARALLEL_MAX])
{
    for (uint32_t s = 0; s < rules->count; s++) {
        held[s] = (struct held){HOLD_WHOLE, STG_NO_EXPR};
    }
    hold_each(space, rules, layout.shape, HOLD_SPLIT, held);
    hold_each(space, rules, layout.hidden, HOLD_PARTIAL, held);
}

/* The dimension as if nothing were parallel. */
static uint32_t undivided(struct stg_space *space, uint32_t dim)
{
    uint32_t to[STG_SYMBOL_COUNT];
    uint32_t one = stg_expr_number(&space->exprs, 1, 1);
    for (unsigned i = 0; i < STG_SYMBOL_COUNT; i++) {
        bool parallel = i == STG_DP || i == STG_TP || i == STG_CP || i == STG_EP;
        to[i] = parallel ? one : STG_NO_EXPR;
    }
    return stg_expr_substitute(&space->exprs, dim, to);
}

static bool same_dim(struct stg_space *space, uint32_t a, uint32_t b)
{
    return a == b || undivided(space, a) == undivided(space, b);
}

static void stg_comm_add(struct stg_comms *comms, enum stg_coll type, enum stg_symbol symbol)
{
    comms->list[comms->count].type = type;
    comms->list[comms->count].symbol = symbol;
    comms->count++;
}

enum orr_status stg_comms_find(struct stg_space *space, const struct stg_rules *rules, struct stg_layout from,
                               struct stg_layout to, const char *where, struct stg_comms *comms, struct orr_error *err)
{
    struct held has[STG_PARALLEL_MAX];
    struct held wants[STG_PARALLEL_MAX];
    *comms = (struct stg_comms){.count = 0};
    stg_comm_look(space, rules, from, has);
    stg_comm_look(space, rules, to, wants);
    for (uint32_t s = 0; s < rules->count; s++) {
        enum stg_symbol symbol = rules->symbols[s];
        if (wants[s].hold == HOLD_PARTIAL) {
            if (has[s].hold != HOLD_PARTIAL) {
                return error_set(err, ORR_EINVAL, "%s: wants a partial sum over %s of something that is none", where,
                                 stg_symbol_name(symbol));
            }
        } else if (has[s].hold == HOLD_PARTIAL) {
            stg_comm_add(comms, wants[s].hold == HOLD_SPLIT ? STG_REDUCE_SCATTER : STG_ALL_REDUCE, symbol);
        } else if (has[s].hold == HOLD_SPLIT && wants[s].hold == HOLD_WHOLE) {
            stg_comm_add(comms, STG_ALL_GATHER, symbol);
        } else if (has[s].hold == HOLD_SPLIT && !same_dim(space, has[s].dim, wants[s].dim)) {
            stg_comm_add(comms, STG_ALL_TO_ALL, symbol);
        } else if (has[s].hold == HOLD_WHOLE && wants[s].hold == HOLD_SPLIT) {
            comms->sliced++;
        }
    }
    return space->exprs.fault == STG_FAULT_NONE ? ORR_OK : stg_exprs_error(&space->exprs, where, err);
}
