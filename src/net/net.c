/* What both networks share: how many links a dimension has, and the account of what they carry. */
#include "net/net.h"

/* Directed links. A ring of two has one link each way, not two. */
static uint64_t links_of(const struct topo_dims *dims, const struct topo_dim *dim)
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

/* Places in the link table: simple addresses matter more than a few unused entries. */
static uint64_t link_places(const struct topo_dims *dims, const struct topo_dim *dim)
{
    return (uint64_t)dims->ranks * (dim->kind == TOPO_FULLY_CONNECTED ? dim->size : 2);
}

enum orr_status net_init(struct net *net, bool contention, const struct topo_dims *dims, struct event_queue *queue,
                         struct mem *mem, struct orr_error *err)
{
    *net = (struct net){.dims = dims, .queue = queue, .mem = mem, .contention = contention};
    uint64_t places = 0;
    for (uint32_t d = 0; d < dims->count; d++) {
        net->stats[d].links = links_of(dims, &dims->dim[d]);
        net->first_link[d] = places;
        places += link_places(dims, &dims->dim[d]);
    }
    net->first_link[dims->count] = places;
    if (!contention) {
        return ORR_OK;
    }
    if (places > UINT32_MAX) {
        return error_set(err, ORR_ENOMEM, "the network has %llu links; at most %u can be simulated",
                         (unsigned long long)places, UINT32_MAX);
    }
    net->links = mem_zalloc(mem, (size_t)places * sizeof *net->links);
    if (net->links == NULL || !net_transits_init(&net->transits, mem)) {
        return mem_error(mem, "the table of links", err);
    }
    return ORR_OK;
}

void net_free(struct net *net)
{
    if (net->mem == NULL) {
        return;
    }
    if (net->links != NULL) {
        mem_free(net->mem, net->links, (size_t)net->first_link[net->dims->count] * sizeof *net->links);
    }
    net_transits_free(&net->transits, net->mem);
    *net = (struct net){0};
}
