/* SPDX-License-Identifier: Apache-2.0 */
/* A training step from symbolic tensor graphs: the rows of struct orr_stg_options. Those that STG spells in words of
 * its own are beside the command. */
#include "param/param.h"

static const char *const models[] = {"dense", "llama", "gpt", "moe", NULL}; /* in the order of enum orr_stg_model */
static const char *const originals[] = {"none", "stg", NULL};

#define AT(field)   .place = offsetof(struct orr_stg_options, field)
#define N(min, max) .kind = PARAM_COUNT32, .value = "N", .least = (min), .most = (max)
#define DEGREE      N(1, 1u << 20), .group = PARAM_GROWTH, .initial = "1"
#define SIZE        N(1, 1u << 30), .group = PARAM_WHAT

const struct param param_stg[] = {
    {"output_dir", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "DIR", AT(output_dir),
     .help = "Where to write; made if missing"},
    {"output_name", .kind = PARAM_TEXT, .group = PARAM_OUTPUT, .value = "NAME", AT(output_name),
     .help = "Name of the traces: %d in it is the rank, without one .%d.et is appended. The groups' file is NAME "
             "without .%d, with .json for .et"},
    {"model_type", .kind = PARAM_WORD, .group = PARAM_WHAT, .value = "NAME", AT(model), .words = models,
     .initial = "dense", .help = "dense or llama: grouped queries, gated MLP; gpt: two-matrix MLP; moe: gated experts"},
    {"dp", DEGREE, AT(dp), .help = "Data parallel degree"},
    {"tp", DEGREE, AT(tp), .help = "Tensor parallel degree"},
    {"pp", DEGREE, AT(pp), .help = "Pipeline parallel degree, at most the layers"},
    {"sp", DEGREE, AT(sp), .help = "Context parallel degree: splits the sequence"},
    {"ep", DEGREE, AT(ep), .help = "Expert parallel degree; without experts it multiplies tp"},
    {"dvocal", SIZE, .flags = PARAM_RARE, AT(vocabulary), .initial = "32000", .help = "Vocabulary"},
    {"dmodel", SIZE, AT(hidden), .initial = "8192", .help = "Hidden size"},
    {"dff", SIZE, AT(ffn), .initial = "28672", .help = "Size of the MLP's middle"},
    {"batch", SIZE, AT(batch), .initial = "64", .help = "Sequences in a step, all ranks together"},
    {"seq", SIZE, AT(seq), .initial = "1024", .help = "Tokens of a sequence"},
    {"head", SIZE, AT(heads), .initial = "64", .help = "Attention heads"},
    {"kvhead", SIZE, .flags = PARAM_RARE, AT(kv_heads), .initial = "8", .help = "Heads of keys and values; not in gpt"},
    {"num_stacks", N(1, 1u << 20), .group = PARAM_WHAT, AT(layers), .initial = "80", .help = "Layers"},
    {"experts", N(1, 1u << 20), .group = PARAM_WHAT, AT(experts), .initial = "8", .help = "Experts of a layer (moe)"},
    {"kexperts", N(1, 1u << 20), .group = PARAM_WHAT, .flags = PARAM_RARE, AT(top_k), .initial = "2",
     .help = "Experts that a token goes to (moe)"},
    {"element_bytes", N(1, 16), .group = PARAM_WHAT, .flags = PARAM_RARE, AT(element_bytes),
     .unwritten = "4, or 2 with parameter 'mixed_precision'", .help = "Bytes of an element"},
    {"sheets", .kind = PARAM_PATH, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "DIR", AT(sheets),
     .help = "STG's sharding_spreadsheets, in place of our own sheets"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "NAME", AT(compat),
     .words = originals, .unwritten = "none",
     .help =
         "stg: the original's graph, node by node, with its errors (docs/differences.md); needs parameter 'sheets'"},
    {"tag_base", N(0, 1u << 30), .group = PARAM_OTHER, .flags = PARAM_RARE, AT(tag_base), .initial = "0",
     .help = "Tag of the first message between stages"},
    {"fold-micro-batches", .kind = PARAM_FLAG, .group = PARAM_OTHER, .flags = PARAM_RARE, AT(fold_micro_batches),
     .help = "Micro-batches are copies of the nodes of one, and share no gradients (STAGE_MICROBATCH_OPTIMIZE=1)"},
    {"legacy-attr", .kind = PARAM_FLAG, .group = PARAM_OTHER, .flags = PARAM_RARE, AT(legacy_attr),
     .help = "Write comm_group in place of pg_name (STAGE_LEGACY_ATTR=1)"},
    {"merge-comms", .kind = PARAM_FLAG, .group = PARAM_OTHER, .flags = PARAM_RARE, AT(merge_comms),
     .help = "Leave out a collective that feeds another of its own type; only with parameter 'compat' stg "
             "(STAGE_MERGE_COMMS=1)"},
    {0},
};

void orr_stg_options_init(struct orr_stg_options *options)
{
    static const struct param_table tables[] = {{param_stg, 0, 0}, {0}};
    *options = (struct orr_stg_options){.tpsp = true};
    param_defaults(tables, options);
}
