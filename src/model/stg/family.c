/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public families reproduce how STG's model files put their sheets together at the commit that the goldens are from
 * (spec simai §12.2): names and order of modules decide names and order of nodes. Our own are the same architectures
 * with one set of sheets: `sp` is tp or 1, KVHead is Head in GPT, and ep is 1 outside of mixtures.
 */
#include "model/stg/family.h"

#include <string.h>

#define END_RULE                                                                                                       \
    {                                                                                                                  \
        STG_BATCH, NULL                                                                                                \
    }

/* ---- STG's sheets ---- */

#define PUBLIC_NORM      "layer_norm"
#define PUBLIC_ATTENTION "group_query_attention_surrounding"
#define PUBLIC_KERNEL    "group_query_attention_kernel_fused"
#define PUBLIC_FFN       "llama_feed_forward_network"

#define PUBLIC_ATTENTION_JOINS                                                                                         \
    {"mha.q", "mha.attn_kernel.q"}, {"mha.k", "mha.attn_kernel.k"}, {"mha.v", "mha.attn_kernel.v"},                    \
        {"mha.attn_kernel.dq", "mha.dq"}, {"mha.attn_kernel.dk", "mha.dk"}, {"mha.attn_kernel.dv", "mha.dv"},          \
        {"mha.attn_kernel.qkv", "mha.attn"}, {"mha.dattn", "mha.attn_kernel.dqkv"}, {"input_norm.y", "mha.x"},         \
        {"mha.o", "mha_res.x1"}, {"input_norm.x", "mha_res.x2"}, {"mha_res.dx1", "mha.do"},                            \
        {"mha_res.y", "post_attn_norm.x"}, {"post_attn_norm.dx", "mha_res.dy"},                                        \
    {                                                                                                                  \
        "post_attn_norm.x", "ffn_res.x2"                                                                               \
    }

#define PUBLIC_ENDS                                                                                                    \
    .first = {{.prefix = "in_emb.",                                                                                    \
               .sheet = "embedding",                                                                                   \
               .rules = {{STG_DIN, "Dvocal"}, {STG_DOUT, "Dmodel"}, END_RULE}}},                                       \
    .last = {{.prefix = "out_emb.",                                                                                    \
              .sheet = "embedding",                                                                                    \
              .rules = {{STG_DIN, "Dmodel"}, {STG_DOUT, "Dvocal"}, END_RULE}},                                         \
             {.prefix = "loss.", .sheet = "loss"}},                                                                    \
    .last_joins = {{"out_emb.y", "loss.y"}, {"loss.dy", "out_emb.dy"}}, .layer_prefix = "transformer.",                \
    .block_in = "input_norm.x", .block_out = "ffn_res.y", .block_dout = "ffn_res.dy", .block_din = "input_norm.dx",    \
    .first_out = "in_emb.y", .first_dout = "in_emb.dy", .last_in = "out_emb.x", .last_din = "out_emb.dx"

#define PUBLIC_DENSE(where)                                                                                            \
    {                                                                                                                  \
        .folder = (where),                                                                                             \
        .block = {{.prefix = "input_norm.", .sheet = PUBLIC_NORM},                                                     \
                  {.prefix = "mha.", .sheet = PUBLIC_ATTENTION},                                                       \
                  {.prefix = "mha.attn_kernel.", .sheet = PUBLIC_KERNEL},                                              \
                  {.prefix = "mha_res.", .sheet = "residual"},                                                         \
                  {.prefix = "post_attn_norm.", .sheet = PUBLIC_NORM},                                                 \
                  {.prefix = "ffn.", .sheet = PUBLIC_FFN},                                                             \
                  {.prefix = "ffn_res.", .sheet = "residual"}},                                                        \
        .block_joins = {PUBLIC_ATTENTION_JOINS,                                                                        \
                        {"post_attn_norm.y", "ffn.x0"},                                                                \
                        {"ffn.xdown", "ffn_res.x1"},                                                                   \
                        {"ffn_res.dx1", "ffn.dxdown"}},                                                                \
        .block_sums = {{"input_norm.dy", "mha.dx", "mha_res.dx2"}, {"post_attn_norm.dy", "ffn.dx0", "ffn_res.dx2"}},   \
        PUBLIC_ENDS,                                                                                                   \
    }

static const struct stg_family public_gpt = PUBLIC_DENSE("tpsp_gpt");
static const struct stg_family public_gpt_tp = PUBLIC_DENSE("tp_gpt");
static const struct stg_family public_llama = PUBLIC_DENSE("tpsp");

static const struct stg_family public_moe = {
    .folder = "tpsp_moe",
    .block = {{.prefix = "input_norm.", .sheet = PUBLIC_NORM},
              {.prefix = "mha.", .sheet = PUBLIC_ATTENTION, .folder = "tpsp"},
              {.prefix = "mha.attn_kernel.", .sheet = PUBLIC_KERNEL, .folder = "tpsp"},
              {.prefix = "mha_res.", .sheet = "residual"},
              {.prefix = "post_attn_norm.", .sheet = PUBLIC_NORM},
              {.prefix = "moe.", .sheet = "moe_frame"},
              {.prefix = "ffn_res.", .sheet = "residual"}},
    .block_joins = {PUBLIC_ATTENTION_JOINS,
                    {"post_attn_norm.y", "moe.x"},
                    {"moe.y", "ffn_res.x1"},
                    {"ffn_res.dx1", "moe.dy"}},
    .block_sums = {{"input_norm.dy", "mha.dx", "mha_res.dx2"}, {"post_attn_norm.dy", "moe.dx", "ffn_res.dx2"}},
    .experts = {.behind = "moe.",
                .prefix = "moe.",
                .modules = {{.prefix = "ldis.", .sheet = "expert_wrapper"},
                            {.prefix = "ffn.",
                             .sheet = PUBLIC_FFN,
                             .rules = {{STG_SEQ, "Seq*KExperts/(Experts*ep)"}, END_RULE}}},
                .joins = {{"ldis.x_expert", "ffn.x0"},
                          {"ffn.xdown", "ldis.y_expert"},
                          {"ldis.dy_expert", "ffn.dxdown"},
                          {"ffn.dx0", "ldis.dx_expert"}},
                .scatter = {{"moe.xrouted", "ldis.x"}, {"moe.dyrouted", "ldis.dy"}},
                .collect = {{"ldis.dx", "moe.dxrouted"}, {"ldis.y", "moe.yrouted"}},
                .last_amount = "1"},
    PUBLIC_ENDS,
};

/* ---- our own ---- */

#define OWN_ENDS                                                                                                       \
    .first = {{.prefix = "embedding.", .sheet = "embedding"}},                                                         \
    .last = {{.prefix = "final_norm.", .sheet = "norm"},                                                               \
             {.prefix = "head.", .sheet = "head"},                                                                     \
             {.prefix = "loss.", .sheet = "loss"}},                                                                    \
    .last_joins = {{"final_norm.out", "head.in"},                                                                      \
                   {"head.out", "loss.logits"},                                                                        \
                   {"loss.dlogits", "head.dout"},                                                                      \
                   {"head.din", "final_norm.dout"}},                                                                   \
    .layer_prefix = "layer.", .block_in = "norm1.in", .block_out = "add2.out", .block_dout = "add2.dout",              \
    .block_din = "dsum1.dall", .first_out = "embedding.out", .first_dout = "embedding.dout",                           \
    .last_in = "final_norm.in", .last_din = "final_norm.din"

/* The residual's gradient and the branch's meet in a sheet of their own, so that a block ends in one gradient. */
#define OWN_ATTENTION                                                                                                  \
    {.prefix = "norm1.", .sheet = "norm"}, {.prefix = "attn.", .sheet = "attention"},                                  \
        {.prefix = "add1.", .sheet = "residual"},                                                                      \
    {                                                                                                                  \
        .prefix = "norm2.", .sheet = "norm"                                                                            \
    }

#define OWN_TAIL                                                                                                       \
    {.prefix = "add2.", .sheet = "residual"}, {.prefix = "dsum2.", .sheet = "gradient_sum"},                           \
    {                                                                                                                  \
        .prefix = "dsum1.", .sheet = "gradient_sum"                                                                    \
    }

#define OWN_JOINS(branch)                                                                                              \
    {"norm1.out", "attn.in"}, {"attn.out", "add1.a"}, {"norm1.in", "add1.b"}, {"add1.out", "norm2.in"},                \
        {"norm2.out", branch ".in"}, {branch ".out", "add2.a"}, {"norm2.in", "add2.b"}, {"add2.da", branch ".dout"},   \
        {branch ".din", "norm2.dout"}, {"norm2.din", "dsum2.da"}, {"add2.db", "dsum2.db"},                             \
        {"dsum2.dall", "add1.dout"}, {"add1.da", "attn.dout"}, {"attn.din", "norm1.dout"}, {"norm1.din", "dsum1.da"},  \
    {                                                                                                                  \
        "add1.db", "dsum1.db"                                                                                          \
    }

static const struct stg_family own_gpt = {
    .rules = {{STG_KV_HEAD, "Head"}, {STG_EP, "1"}, END_RULE},
    .block = {OWN_ATTENTION, {.prefix = "mlp.", .sheet = "mlp"}, OWN_TAIL},
    .block_joins = {OWN_JOINS("mlp")},
    OWN_ENDS,
};

static const struct stg_family own_llama = {
    .rules = {{STG_EP, "1"}, END_RULE},
    .block = {OWN_ATTENTION, {.prefix = "mlp.", .sheet = "gated_mlp"}, OWN_TAIL},
    .block_joins = {OWN_JOINS("mlp")},
    OWN_ENDS,
};

static const struct stg_family own_moe = {
    .block = {OWN_ATTENTION, {.prefix = "moe.", .sheet = "router"}, OWN_TAIL},
    .block_joins = {OWN_JOINS("moe")},
    .experts = {.behind = "moe.",
                .prefix = "moe.expert",
                .modules = {{.prefix = "slot.", .sheet = "expert_slot"},
                            {.prefix = "mlp.",
                             .sheet = "gated_mlp",
                             .rules = {{STG_EP, "1"}, {STG_SEQ, "Seq*KExperts/Experts"}, END_RULE}}},
                .joins = {{"slot.taken", "mlp.in"},
                          {"mlp.out", "slot.made"},
                          {"slot.dtaken", "mlp.dout"},
                          {"mlp.din", "slot.dmade"}},
                .scatter = {{"moe.sent", "slot.in"}, {"moe.dsent", "slot.dout"}},
                .collect = {{"slot.out", "moe.back"}, {"slot.din", "moe.dback"}},
                .last_amount = "0"},
    OWN_ENDS,
};

const struct stg_family *stg_family_find(const struct stg_config *config)
{
    bool own = config->sheets == NULL;
    switch (config->kind) {
    case STG_KIND_MOE:
        return own ? &own_moe : &public_moe;
    case STG_KIND_LLAMA:
        return own ? &own_llama : &public_llama; /* the public ones without tpsp are of an older language */
    case STG_KIND_GPT:
    default:
        return own ? &own_gpt : config->tpsp ? &public_gpt : &public_gpt_tp;
    }
}

static void add_sheets(const struct stg_module *modules, size_t count, const char *names[STG_SHEET_NAMES_MAX],
                       size_t *used)
{
    for (size_t i = 0; i < count && modules[i].prefix != NULL; i++) {
        bool known = false;
        for (size_t n = 0; n < *used && !known; n++) {
            known = strcmp(names[n], modules[i].sheet) == 0;
        }
        if (!known && *used + 1 < STG_SHEET_NAMES_MAX) {
            names[(*used)++] = modules[i].sheet;
        }
    }
}

void stg_family_sheets(const struct stg_family *family, const char *names[STG_SHEET_NAMES_MAX])
{
    size_t used = 0;
    add_sheets(family->first, sizeof family->first / sizeof *family->first, names, &used);
    add_sheets(family->block, sizeof family->block / sizeof *family->block, names, &used);
    if (family->experts.behind != NULL) {
        add_sheets(family->experts.modules, sizeof family->experts.modules / sizeof *family->experts.modules, names,
                   &used);
    }
    add_sheets(family->last, sizeof family->last / sizeof *family->last, names, &used);
    names[used] = NULL;
}
