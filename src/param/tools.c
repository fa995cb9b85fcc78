/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of commands that work on traces, where their options begin from other values than 0. */
#include "param/param.h"

enum { RANKS_MAX = 1 << 20 };

static const char *const formats[] = {
    "auto",
#define ORR_X(name, word, text) #word,
    ORR_FORMATS(ORR_X)
#undef ORR_X
        NULL,
};

#define AT(field)    .place = offsetof(struct orr_convert_options, field)
#define COUNT(field) .kind = PARAM_COUNT32, .value = "N", AT(field), .least = 1, .most = RANKS_MAX

const struct param param_convert[] = {
    {"from", .kind = PARAM_WORD, .value = "FORMAT", AT(format), .words = formats, .first = ORR_FORMAT_AUTO,
     .initial = "auto", .help = "What the input is: " ORR_FORMAT_LIST ", or auto, which its content tells"},
    {"ranks", "npus", COUNT(ranks), .help = "Ranks to write. Needed for text; other formats know how many they hold"},
    {"passes", COUNT(passes), .initial = "1", .help = "Times the workload is repeated (text, simai)"},
    {"map", .kind = PARAM_TEXT, .value = "LIST", AT(map),
     .help = "Columns of a csv, such as name=op,duration_us=time,deps=after; also id, bytes and comm"},
    {0},
};
#undef AT

#define AT(field) .place = offsetof(struct orr_view_options, field)
const struct param param_view[] = {
    {"limit", .kind = PARAM_COUNT32, .group = PARAM_OUTPUT, .value = "N", AT(limit), .most = UINT32_MAX,
     .initial = "4000", .help = "Draw N boxes at most (.svg, .html, .pdf); 0 draws all"},
    {"unfolded", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(unfolded),
     .help = "One box a node: do not fold chains of compute nodes"},
    {0},
};
#undef AT

#define AT(field) .place = offsetof(struct orr_chakra_generator, field)
const struct param param_chakra_generator[] = {
    {"num_npus", .kind = PARAM_COUNT32, .value = "N", AT(npus), .least = 1, .most = RANKS_MAX, .help = "Ranks to write",
     .initial = "64"},
    {"default_runtime", .kind = PARAM_COUNT, .value = "US", AT(runtime_us), .help = "Duration of compute nodes, us",
     .initial = "5"},
    {"default_tensor_size", .kind = PARAM_COUNT, .value = "BYTES", AT(tensor_bytes),
     .help = "Size of memory, send and receive nodes", .initial = "1024"},
    {"default_comm_size", .kind = PARAM_COUNT, .value = "BYTES", AT(comm_bytes), .most = INT64_MAX,
     .help = "Size of collectives", .initial = "65536"},
    {0},
};
#undef AT

void orr_convert_options_init(struct orr_convert_options *options)
{
    static const struct param_table tables[] = {{param_convert, 0, 0}, {0}};
    *options = (struct orr_convert_options){0};
    param_defaults(tables, options);
}

void orr_view_options_init(struct orr_view_options *options)
{
    static const struct param_table tables[] = {{param_view, 0, 0}, {0}};
    *options = (struct orr_view_options){0};
    param_defaults(tables, options);
}

void orr_chakra_generator_init(struct orr_chakra_generator *options)
{
    static const struct param_table tables[] = {{param_chakra_generator, 0, 0}, {0}};
    *options = (struct orr_chakra_generator){0};
    param_defaults(tables, options);
}
