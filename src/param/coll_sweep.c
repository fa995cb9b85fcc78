/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a range of collectives whose times are asked for. */
#include <string.h>

#include "param/param.h"

/* "8B..16GiB", or one size. */
static enum orr_status coll_sweep_read_range(const struct param *row, const char *text, void *into,
                                             struct orr_error *err)
{
    struct orr_coll_sweep *sweep = into;
    char piece[64];
    const char *dots = strstr(text, "..");
    size_t length = dots != NULL ? (size_t)(dots - text) : strlen(text);
    (void)row;
    sweep->last_bytes = 0;
    (void)snprintf(piece, sizeof piece, "%.*s", (int)(length < sizeof piece ? length : sizeof piece), text);
    enum orr_status status = param_parse_size("parameter 'bytes'", piece, &sweep->question.bytes, err);
    if (status == ORR_OK && dots != NULL) {
        status = param_parse_size("parameter 'bytes'", dots + 2, &sweep->last_bytes, err);
    }
    if (status == ORR_OK && dots != NULL && sweep->last_bytes < sweep->question.bytes) {
        status = error_set(err, ORR_EINVAL, "parameter 'bytes': \"%.60s\" goes down; the smaller size is first", text);
    }
    return status;
}

#define ORR_COLL_X(name, word) word,
static const char *const coll_sweep_ops[] = {ORR_COLL_OPS(ORR_COLL_X) NULL};
static const char *const coll_sweep_algos[] = {ORR_COLL_ALGOS(ORR_COLL_X) NULL};
static const char *const coll_sweep_protos[] = {ORR_COLL_PROTOS(ORR_COLL_X) NULL};
#undef ORR_COLL_X

#define AT(field)    .place = offsetof(struct orr_coll_sweep, field)
#define COUNT(most_) .kind = PARAM_COUNT32, .least = 1, .most = (most_)

const struct param param_coll_sweep[] = {
    {"machine", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(machine.machine),
     .help = "A server of presets/machines and how many: dgx-h100:2; see orrery machine list"},
    {"gpu", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(machine.gpu), .unwritten = "the machine's",
     .help = "h100, gb300, mi300x, \"NVIDIA H100 80GB HBM3\""},
    {"nodes", COUNT(1 << 20), .group = PARAM_MACHINE, .value = "N", AT(question.nodes),
     .unwritten = "the machine's, else 1", .help = "Nodes that take part"},
    {"gpus-per-node", COUNT(1 << 12), .group = PARAM_MACHINE, .value = "N", AT(question.gpus),
     .unwritten = "the machine's, else 8", .help = "Ranks in each of them"},
    {"fabric", .kind = PARAM_TEXT, .group = PARAM_MACHINE, .value = "NAME", AT(machine.fabric), .unwritten = "ib",
     .help = "What joins the nodes: ib, roce, efa, gcp, slingshot"},
    {"nic", .kind = PARAM_REAL, .unit = "GB/s", .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "RATE",
     AT(machine.nic_gbytes), .real_least = 0.01, .real_most = 1e5, .unwritten = "the machine's",
     .help = "Of one NIC: 400Gbps; a bare number is in GB/s"},
    {"nic-every", COUNT(1 << 12), .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "N", AT(machine.nic_every),
     .unwritten = "the machine's", .help = "One NIC for so many GPUs"},
    {"link", .kind = PARAM_REAL, .unit = "GB/s", .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "RATE",
     AT(machine.link_gbytes), .real_least = 0.01, .real_most = 1e5, .unwritten = "the GPU's",
     .help = "Of a GPU inside its node, one direction: 450GB/s; a bare number is in GB/s"},
    {"groups-per-node", "groups", COUNT(1 << 12), .group = PARAM_MACHINE, .flags = PARAM_RARE, .value = "N",
     AT(question.groups), .unwritten = "1", .help = "Groups of a node that communicate at once and share its NICs"},
    {"op", .kind = PARAM_WORD, .group = PARAM_WHAT, .value = "NAME", AT(question.op), .words = coll_sweep_ops,
     .initial = "all-reduce",
     .help = "all-reduce, all-gather, reduce-scatter, all-to-all, send-recv, broadcast or reduce"},
    {"bytes", .kind = PARAM_READ, .group = PARAM_WHAT, .value = "SIZE[..SIZE]", .read = coll_sweep_read_range,
     .unwritten = "8B..16GiB", .help = "As nccl-tests counts them; a range doubles"},
    {"algo", .kind = PARAM_WORD, .group = PARAM_NETWORK, .value = "NAME", AT(question.algo), .words = coll_sweep_algos,
     .unwritten = "as the library chooses", .help = "As NCCL_ALGO: tree, ring, nvls, nvls-tree, pat"},
    {"proto", .kind = PARAM_WORD, .group = PARAM_NETWORK, .value = "NAME", AT(question.proto),
     .words = coll_sweep_protos, .unwritten = "as the library chooses", .help = "As NCCL_PROTO: ll, ll128, simple"},
    {"nccl-version", .kind = PARAM_TEXT, .group = PARAM_NETWORK, .value = "V", AT(machine.nccl),
     .unwritten = "the newest known", .help = "Whose tuner chooses, and whose measurements come first: 2.29.2"},
    {"channels", COUNT(1024), .group = PARAM_NETWORK, .flags = PARAM_RARE, .value = "N", AT(question.channels),
     .unwritten = "the library's", .help = "Told in the result; times are those of the library's number"},
    {0},
};
