/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures lie with their channels last, so that what goes over them is a matrix: a row a pixel, a column a channel.
 * ResNets repeat their blocks; equal ones are one entry that says how often. */
#include "train/work_network.h"

#include "train/work_eager.h"

/* What goes through a network of convolutions. */
struct network {
    struct eager eager;
    double batch, side, channels; /* of the picture as it stands */
    bool is_first;                /* nothing was convolved yet */
};

static double network_pixels(const struct network *network)
{
    return network->batch * network->side * network->side;
}

static double network_side(double side, double stride)
{
    return (double)(uint64_t)((side + stride - 1) / stride);
}

/* A convolution that keeps its input, of what goes in to `filters` channels. */
static void network_convolve(struct network *network, const char *name, double filters, double kernel, double stride,
                             bool bias)
{
    uint64_t dims[ORR_OP_DIMS] = {(uint64_t)network->batch, (uint64_t)network->channels,
                                  (uint64_t)filters,        (uint64_t)network->side,
                                  (uint64_t)kernel,         (uint64_t)stride};
    eager_convolution(&network->eager, name, dims, network->is_first, bias);
    network->is_first = false;
    network->side = network_side(network->side, stride);
    network->channels = filters;
}

/* Batch norm and, in place behind it, ReLU; with `add` the block's input is added between them. Compiled: one pass for
 * the sums, one for all the rest. */
static void network_norm(const struct network *network, bool relu, bool add)
{
    const struct eager *eager = &network->eager;
    struct work_piece *piece = eager->piece;
    double rows = network_pixels(network), cols = network->channels, bytes = rows * cols * eager->value;
    if (eager->compiled) {
        eager_move(eager, &piece->forward, "batch norm's sums", 1.75 * bytes, 2);
        eager_move(eager, &piece->forward, "batch norm", (add ? 3 : 2) * bytes, 1);
        eager_move(eager, &piece->backward, "batch norm's sums", 3 * bytes, 1);
        eager_move(eager, &piece->backward, "batch norm", (add ? 5 : 4) * bytes, 1);
    } else {
        eager_kernel(eager, &piece->forward, "batch norm", ORR_OP_BATCHNORM, rows, cols);
        piece->forward.items[piece->forward.count - 1].launches = 2; /* it counts its batches besides */
        eager_kernel(eager, &piece->backward, "batch norm", ORR_OP_BATCHNORM_BACKWARD, rows, cols);
        if (add) {
            eager_kernel(eager, &piece->forward, "sum", ORR_OP_ADD, rows, cols);
            eager_kernel(eager, &piece->backward, "sum", ORR_OP_ADD, rows, cols);
        }
        if (relu) {
            eager_kernel(eager, &piece->forward, "ReLU", ORR_OP_RELU, rows, cols);
            eager_kernel(eager, &piece->backward, "ReLU", ORR_OP_RELU_BACKWARD, rows, cols);
        }
    }
    eager_keep(eager, rows, relu ? 2 * cols : cols); /* what was convolved; the result, which the next one keeps */
    piece->parameters += 2 * cols;
}

static void network_pool(struct network *network, double stride, double kernel)
{
    const struct eager *eager = &network->eager;
    bool apart = kernel <= stride; /* windows that do not overlap are less work */
    double rows = network_pixels(network);
    eager_kernel(eager, &eager->piece->forward, "pool", ORR_OP_MAXPOOL, rows, network->channels);
    eager->piece->forward.items[eager->piece->forward.count - 1].times = eager->compiled ? 0.45 : apart ? 0.67 : 1;
    eager_kernel(eager, &eager->piece->backward, "pool", ORR_OP_MAXPOOL_BACKWARD, rows, network->channels);
    eager->piece->backward.items[eager->piece->backward.count - 1].times = apart ? 0.45 : eager->compiled ? 0.8 : 1;
    network->side = network_side(network->side, stride);
    eager_keep(eager, network_pixels(network), network->channels);
    /* which pixel it was: a long integer, compiled a byte */
    eager->piece->kept_bytes += network_pixels(network) * network->channels * (eager->compiled ? 1 : 8);
}

/* What was added to the lists since the marks is there `more` times besides. */
static void network_repeat(struct work_piece *piece, uint32_t forward, uint32_t backward, double more)
{
    struct work_list *lists[] = {&piece->forward, &piece->backward};
    uint32_t from[] = {forward, backward};
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = from[i]; k < lists[i]->count; k++) {
            struct work_item *item = &lists[i]->items[k];
            item->launches = (item->launches > 0 ? item->launches : item->times) * (1 + more);
            item->times *= 1 + more;
        }
    }
}

static void network_block(struct network *network, double width, double stride, bool bottleneck)
{
    double into = network->channels, side = network->side, out = bottleneck ? 4 * width : width;
    bool is_first = network->is_first;
    if (bottleneck) {
        network_convolve(network, "1 x 1 in", width, 1, 1, false);
        network_norm(network, true, false);
        network_convolve(network, "3 x 3", width, 3, stride, false);
    } else {
        network_convolve(network, "3 x 3", width, 3, stride, false);
    }
    network_norm(network, true, false);
    if (bottleneck) {
        network_convolve(network, "1 x 1 out", out, 1, 1, false);
    } else {
        network_convolve(network, "3 x 3 out", out, 3, 1, false);
    }
    if (into != out || stride > 1) {
        struct network shortcut = *network;
        shortcut.channels = into, shortcut.side = side, shortcut.is_first = is_first;
        network_convolve(&shortcut, "shortcut", out, 1, stride, false);
        network_norm(&shortcut, false, false);
    }
    network_norm(network, true, true);
}

/* The first stage of an ImageNet ResNet is a wide convolution and a pool; CIFAR's own kind (three stages) has one of
 * 3 x 3 and 16 channels. */
static void network_resnet(struct network *network, const struct orr_train_model *model)
{
    bool small = model->blocks[3] == 0;
    double width = small ? 16 : 64;
    struct work_piece *piece = network->eager.piece;
    network_convolve(network, "stem", width, small ? 3 : 7, small ? 1 : 2, false);
    network_norm(network, true, false);
    if (!small) {
        network_pool(network, 2, 3);
    }
    for (int stage = 0; stage < ORR_TRAIN_STAGES && model->blocks[stage] != 0; stage++, width *= 2) {
        network_block(network, width, stage == 0 ? 1 : 2, model->bottleneck);
        if (model->blocks[stage] > 1) {
            uint32_t forward = piece->forward.count, backward = piece->backward.count;
            double more = model->blocks[stage] - 2.0, kept = piece->kept_bytes, weights = piece->parameters;
            network_block(network, width, 1, model->bottleneck);
            piece->kept_bytes += more * (piece->kept_bytes - kept);
            piece->parameters += more * (piece->parameters - weights);
            network_repeat(piece, forward, backward, more);
        }
    }
    double bytes = network_pixels(network) * network->channels * network->eager.value;
    piece->working_bytes = 2 * bytes; /* gradients of the last block */
    eager_move(&network->eager, &piece->forward, "mean", bytes, 1);
    eager_move(&network->eager, &piece->backward, "mean", 2 * bytes, 1);
    network->side = 1;
}

static void network_vgg(struct network *network, const struct orr_train_model *model)
{
    const struct eager *eager = &network->eager;
    for (int stage = 0; stage < ORR_TRAIN_STAGES; stage++) {
        double width = stage < 3 ? 64 << stage : 512;
        for (uint32_t i = 0; i < model->blocks[stage]; i++) {
            network_convolve(network, "3 x 3", width, 3, 1, true);
            double rows = network_pixels(network);
            eager_kernel(eager, &eager->piece->forward, "ReLU", ORR_OP_RELU, rows, width);
            eager_kernel(eager, &eager->piece->backward, "ReLU", ORR_OP_RELU_BACKWARD, rows, width);
            eager_keep(eager, rows, width);
        }
        network_pool(network, 2, 2);
    }
    double into = network->channels * network->side * network->side;
    eager->piece->working_bytes = (into + 4096 + model->classes) * 4096 * eager->value; /* gradients of what follows */
    for (int i = 0; i < 2; i++, into = 4096) {
        eager_linear(eager, "linear", network->batch, 4096, into, true);
        eager_kernel(eager, &eager->piece->forward, "ReLU", ORR_OP_RELU, network->batch, 4096);
        eager_kernel(eager, &eager->piece->backward, "ReLU", ORR_OP_RELU_BACKWARD, network->batch, 4096);
    }
    network->channels = 4096;
}

static void network_pictures(const struct work_job *job, struct eager eager)
{
    const struct orr_train_model *model = job->model;
    struct network network = {eager, job->plan->micro_batch, model->image, 3, true};
    if (model->family == ORR_TRAIN_RESNET) {
        network_resnet(&network, model);
    } else {
        network_vgg(&network, model);
    }
    eager_linear(&eager, "classes", network.batch, model->classes, network.channels, true);
    eager_loss(&eager, network.batch, model->classes);
    eager.piece->input_bytes = network.batch * 3 * model->image * model->image * eager.value;
}

/* ---- linear layers ---- */

/* One behind the other, with ReLU between; from `widths[0]` to the last, which is followed by 0. */
static void network_linears(const struct eager *eager, const char *name, double rows, const double *widths)
{
    for (; widths[1] != 0; widths++) {
        eager_linear(eager, name, rows, widths[1], widths[0], true);
        eager_kernel(eager, &eager->piece->forward, "ReLU", ORR_OP_RELU, rows, widths[1]);
        eager_kernel(eager, &eager->piece->backward, "ReLU", ORR_OP_RELU_BACKWARD, rows, widths[1]);
        eager_keep(eager, rows, 2 * widths[1]);
    }
}

/* Tables lie whole on one rank each, spread evenly; what a batch looks up goes to the rank of the sample, and the
 * gradients back. They are updated where they lie, by the rows that were looked up. */
static void network_tables(const struct work_job *job, const struct eager *eager)
{
    const struct orr_train_model *model = job->model;
    struct work_piece *piece = eager->piece;
    double ranks = job->plan->dp, rows = (double)job->plan->micro_batch * model->tables;
    double bytes = rows * model->hidden * eager->value;
    struct orr_op op = {.kind = ORR_OP_EMBEDDING, .dtype = ORR_OP_BF16};
    op.dims[0] = (uint64_t)rows, op.dims[1] = model->vocab, op.dims[2] = model->hidden;
    work_append(&piece->forward, "tables")->op = op;
    eager_move(eager, &piece->backward, "rows of tables", 6 * bytes, 2);
    if (ranks > 1) {
        struct work_item *there = work_append(&piece->forward, "tables to samples");
        there->comm = WORK_DP_EXCHANGE, there->bytes = bytes;
        struct work_item *back = work_append(&piece->backward, "gradients to tables");
        back->comm = WORK_DP_EXCHANGE, back->bytes = bytes;
    }
    piece->fixed_bytes = (double)model->tables * model->vocab * model->hidden * eager->value / ranks;
    eager_keep(eager, rows, model->hidden);
}

static void network_dlrm(const struct work_job *job, const struct eager *eager)
{
    const struct orr_train_model *model = job->model;
    struct work_piece *piece = eager->piece;
    double rows = job->plan->micro_batch, width = model->hidden, features = model->tables + 1.0;
    double pairs = features * (features - 1) / 2 + width;
    const double bottom[] = {13, 512, 256, width, 0}, top[] = {pairs, 1024, 1024, 512, 256, 0};
    struct orr_op op = {.kind = ORR_OP_BATCHED_GEMM, .dtype = work_dtype(job)};
    network_linears(eager, "bottom", rows, bottom);
    network_tables(job, eager);
    op.dims[0] = (uint64_t)rows, op.dims[1] = op.dims[2] = (uint64_t)features, op.dims[3] = model->hidden;
    work_append(&piece->forward, "interaction")->op = op;
    op.dims[2] = model->hidden, op.dims[3] = (uint64_t)features;
    work_append(&piece->backward, "interaction")->op = op;
    work_append(&piece->backward, "interaction")->op = op;
    eager_move(eager, &piece->forward, "pairs", 2 * rows * (features * features + features * width) * eager->value, 3);
    eager_move(eager, &piece->backward, "pairs", 2 * rows * (features * features + features * width) * eager->value, 3);
    eager_keep(eager, rows, features * width + pairs);
    network_linears(eager, "top", rows, top);
    eager_linear(eager, "click", rows, 1, 256, true);
    eager_move(eager, &piece->forward, "loss", 8 * rows, 2);
    eager_move(eager, &piece->backward, "loss", 8 * rows, 2);
}

static void network_mlp(const struct work_job *job, const struct eager *eager)
{
    const struct orr_train_model *model = job->model;
    struct work_piece *piece = eager->piece;
    const double widths[] = {model->hidden, model->ffn, 0};
    network_linears(eager, "linear", job->plan->micro_batch, widths);
    network_repeat(piece, 0, 0, model->layers - 1.0);
    piece->kept_bytes *= model->layers;
    piece->parameters *= model->layers;
    eager_move(eager, &piece->forward, "loss", 2 * eager->value * job->plan->micro_batch * model->ffn, 2);
    eager_move(eager, &piece->backward, "loss", 3 * eager->value * job->plan->micro_batch * model->ffn, 2);
}

void network_piece(const struct work_job *job, struct work_piece *piece)
{
    struct eager eager = eager_begin(job, piece, "network");
    if (job->model->family == ORR_TRAIN_DLRM) {
        network_dlrm(job, &eager);
    } else if (job->model->family == ORR_TRAIN_MLP) {
        network_mlp(job, &eager);
    } else {
        network_pictures(job, eager);
    }
}
