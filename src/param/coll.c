/* SPDX-License-Identifier: Apache-2.0 */
/* Which collective is laid out as NCCL does, and how: the rows of struct orr_coll_options. */
#include "param/param.h"

enum { MOST_GPUS = 1 << 20 };

static const char *const originals[] = {"none", "simai", NULL};

#define AT(field)       .place = offsetof(struct orr_coll_options, field)
#define RANKS(min, max) .kind = PARAM_COUNT32, .least = (min), .most = (max)

const struct param param_coll[] = {
    {"gpus", RANKS(1, MOST_GPUS), .group = PARAM_MACHINE, .value = "N", AT(gpus), .initial = "8",
     .help = "GPUs of the job"},
    {"gps", RANKS(1, MOST_GPUS), .group = PARAM_MACHINE, .value = "G", AT(gpus_per_server), .initial = "8",
     .help = "GPUs per server"},
    {"switches", RANKS(0, 1024), .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "N", AT(switches_per_server),
     .initial = "1", .help = "NVLink switches per server"},
    {"gpu-type", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(gpu_type), .initial = "H100",
     .help = "A100, A800, H100, H800, H20, H200, B200 or GB200"},
    {"tp", RANKS(1, MOST_GPUS), .group = PARAM_WHAT, .value = "T", AT(tp),
     .unwritten = "N for parameter 'group' tp, else 1",
     .help = "Tensor-parallel degree; the data-parallel one is N / T"},
    {"ep", RANKS(1, MOST_GPUS), .group = PARAM_WHAT, .value = "E", AT(ep), .initial = "1",
     .help = "Expert-parallel degree, a divisor of N / T"},
    {"group", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(group), .initial = "tp",
     .help = "Whose collective: tp, dp, ep or dp-ep"},
    {"rank", RANKS(0, MOST_GPUS - 1), .group = PARAM_WHAT, .value = "R", AT(rank), .initial = "0",
     .help = "The group of that type which R is in"},
    {"type", .kind = PARAM_TEXT, .group = PARAM_WHAT, .value = "NAME", AT(type), .unwritten = "all-reduce",
     .help = "all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, gather, scatter, barrier or "
             "send-recv"},
    {"bytes", .kind = PARAM_SIZE, .group = PARAM_WHAT, .value = "SIZE", AT(bytes), .initial = "1MiB",
     .help = "Size of the whole buffer (all-gather: after it), or of each message of send-recv: 1MiB, 64KB, bytes"},
    {"root", RANKS(0, MOST_GPUS - 1), .group = PARAM_WHAT, .flags = PARAM_RARE, .value = "R", AT(root),
     .unwritten = "the group's first rank", .help = "Of broadcast, reduce, gather, scatter"},
    {"algo", .kind = PARAM_TEXT, .group = PARAM_NETWORK, .value = "NAME", AT(algo), .initial = "auto",
     .help = "auto, ring, tree, nvls, nvls-tree or collnet"},
    {"channels", RANKS(1, 1024), .group = PARAM_NETWORK, .flags = PARAM_RARE, .value = "N", AT(channels),
     .unwritten = "the group's ranks per server", .help = "Rings; trees come in pairs per ring"},
    {"chunk", .kind = PARAM_SIZE, .group = PARAM_NETWORK, .flags = PARAM_RARE, .value = "SIZE", AT(chunk_bytes),
     .unwritten = "rings do not cut; NVLS and collnet in 4; trees and chains as NCCL's Simple protocol",
     .help = "Largest message"},
    {"nvls", .kind = PARAM_FLAG, .group = PARAM_NETWORK, AT(nvls),
     .help = "Reduce in the NVLink switch, where the GPUs can"},
    {"pxn", .kind = PARAM_FLAG, .group = PARAM_NETWORK, AT(pxn),
     .help = "Cross to other servers on the receiver's rail"},
    {"dump", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(dump),
     .help = "Print every group, channel and flow, a line each, instead of table and drawing"},
    {"svg", .kind = PARAM_PATH, .group = PARAM_OUTPUT, .value = "FILE", AT(svg),
     .help = "Also draw the rings or trees"},
    {"compat", .kind = PARAM_CHOICE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "NAME", AT(compat),
     .words = originals, .unwritten = "none",
     .help = "simai: as SimAI 1.6 with its holes; the environment variables AS_NVLS_ENABLE=1 and AS_PXN_ENABLE=1 then "
             "stand for parameter 'nvls' and parameter 'pxn'"},
    {0},
};

void orr_coll_options_init(struct orr_coll_options *options)
{
    static const struct param_table tables[] = {{param_coll, 0, 0}, {0}};
    *options = (struct orr_coll_options){.root = UINT32_MAX};
    param_defaults(tables, options);
}
