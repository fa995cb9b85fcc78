/* SPDX-License-Identifier: Apache-2.0 */
/* What all models share: the dimensions' accounts, and how many links each has. */
#include "net/net.h"

/* Directed links. A ring of two has one link each way, not two. */
static uint64_t net_links_of(const struct topo_dims *dims, const struct topo_dim *dim)
{
    switch (dim->kind) {
    case TOPO_RING:
        return (uint64_t)dims->ranks * (dim->size == 2 ? 1 : 2);
    case TOPO_FULLY_CONNECTED:
        return (uint64_t)dims->ranks * (dim->size - 1);
    case TOPO_SWITCH:
        break;
    }
    return (uint64_t)dims->ranks * 2;
}

enum orr_status net_init(struct net *net, const struct net_ops *ops, const struct topo_dims *dims,
                         struct event_queue *queue, struct mem *mem, struct orr_error *err)
{
    return net_init_machine(net, ops, dims, NULL, NULL, NULL, queue, mem, err);
}

enum orr_status net_init_machine(struct net *net, const struct net_ops *ops, const struct topo_dims *dims,
                                 const void *machine, void (*arrived)(void *context, uint32_t message), void *context,
                                 struct event_queue *queue, struct mem *mem, struct orr_error *err)
{
    *net = (struct net){.ops = ops,
                        .dims = dims,
                        .queue = queue,
                        .mem = mem,
                        .contention = ops->send != NULL,
                        .machine = machine,
                        .arrived = arrived,
                        .arrived_context = context};
    for (uint32_t d = 0; d < dims->count; d++) {
        net->stats[d].links = net_links_of(dims, &dims->dim[d]);
    }
    return ops->open == NULL ? ORR_OK : ops->open(net, err);
}

void net_free(struct net *net)
{
    if (net->ops != NULL && net->ops->close != NULL) {
        net->ops->close(net);
    }
    *net = (struct net){0};
}

enum orr_status net_note_doubt(const struct net *net, struct notes *notes, struct orr_error *err)
{
    bool doubtful = net->ops->doubtful != NULL && net->ops->doubtful(net);
    return doubtful
               ? notes_add(
                     notes, err,
                     "messages meet in queues or under a congestion control, and the job has too many "
                     "packets to move them all: their times are estimated by fair shares; parameter 'backend' auto or "
                     "packet moves the packets")
               : ORR_OK;
}
