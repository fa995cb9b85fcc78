/* SPDX-License-Identifier: Apache-2.0 */
/* Links are appended without an error each: a generator is loops over links, and the two things that can go wrong with
 * one (too many, no memory) are remembered and said once at the end. */
#include "topo/make/made.h"

#include <inttypes.h>
#include <string.h>

static enum orr_status take_type(struct topo_made *made, const char *type, struct orr_error *err)
{
    size_t length = strlen(type);
    bool plain = length > 0 && length < sizeof made->gpu_type;
    for (const char *c = type; plain && *c != '\0'; c++) {
        plain = (unsigned char)*c > ' ' && *c != '/' && (unsigned char)*c < 0x7f;
    }
    if (!plain) {
        return error_set(err, ORR_EINVAL, "parameter 'gpu-type': \"%.60s\" is not one word, such as H100", type);
    }
    memcpy(made->gpu_type, type, length + 1);
    return ORR_OK;
}

enum orr_status topo_made_init(struct topo_made *made, const struct topo_settings *settings, const char *gpu_type,
                               struct mem *mem, struct orr_error *err)
{
    const char *loss = "0";
    const char *asked = settings->value[TOPO_SET_GPU_TYPE];
    *made = (struct topo_made){.mem = mem, .gpus_per_server = 1};
    enum orr_status status = topo_settings_loss(settings, &made->loss, &loss, err);
    if (status == ORR_OK) {
        (void)snprintf(made->loss_text, sizeof made->loss_text, "%s", loss);
        status = take_type(made, asked != NULL ? asked : gpu_type, err);
    }
    return status;
}

void topo_made_free(struct topo_made *made)
{
    if (made->mem != NULL) {
        mem_free(made->mem, made->links, (size_t)made->link_capacity * sizeof *made->links);
    }
    *made = (struct topo_made){0};
}

enum orr_status topo_made_nodes(struct topo_made *made, uint64_t hosts, uint64_t nvswitches, uint64_t switches,
                                struct orr_error *err)
{
    if (hosts > TOPO_NODES_MOST || nvswitches > TOPO_NODES_MOST || switches > TOPO_NODES_MOST ||
        hosts + nvswitches + switches > TOPO_NODES_MOST) {
        return error_set(err, ORR_ERANGE, "the machine would have more than %d nodes", TOPO_NODES_MOST);
    }
    made->hosts = (uint32_t)hosts;
    made->nvswitches = (uint32_t)nvswitches;
    made->switches = (uint32_t)switches;
    return ORR_OK;
}

enum orr_status topo_made_expect(struct topo_made *made, uint64_t links, struct orr_error *err)
{
    if (links > TOPO_LINKS_MOST) {
        return error_set(err, ORR_ERANGE, "the machine would have %" PRIu64 " links; at most %d are made", links,
                         TOPO_LINKS_MOST);
    }
    return MEM_RESERVE(made->mem, made->links, made->link_capacity, links)
               ? ORR_OK
               : mem_error(made->mem, "the machine's links", err);
}

uint32_t topo_made_class(struct topo_made *made, const struct topo_quantity *rate, const struct topo_quantity *delay)
{
    uint32_t at = 0;
    while (at < made->class_count && (strcmp(made->classes[at].rate.text, rate->text) != 0 ||
                                      strcmp(made->classes[at].delay.text, delay->text) != 0)) {
        at++;
    }
    if (at == TOPO_CLASSES_MOST) {
        made->too_many = true;
        return 0;
    }
    made->classes[at] = (struct topo_class){*rate, *delay};
    made->class_count = at == made->class_count ? at + 1 : made->class_count;
    return at;
}

void topo_made_link(struct topo_made *made, uint32_t a, uint32_t b, uint32_t class)
{
    if (made->too_many || made->refused) {
        return;
    }
    if (made->link_count == TOPO_LINKS_MOST) {
        made->too_many = true;
        return;
    }
    if (!MEM_GROW(made->mem, made->links, made->link_capacity, made->link_count)) {
        made->refused = true;
        return;
    }
    made->links[made->link_count++] = (struct topo_made_link){a, b, class};
}

enum orr_status topo_made_end(const struct topo_made *made, struct orr_error *err)
{
    if (made->too_many) {
        return error_set(err, ORR_ERANGE, "the machine would have more than %d links, or of more than %d kinds",
                         TOPO_LINKS_MOST, TOPO_CLASSES_MOST);
    }
    return made->refused ? mem_error(made->mem, "the machine's links", err) : ORR_OK;
}

enum orr_status topo_made_graph(const struct topo_made *made, struct mem *mem, struct topo_graph *graph,
                                struct orr_error *err)
{
    uint32_t switches = made->hosts + made->nvswitches;
    struct topo_graph built = {0};
    enum orr_status status = topo_graph_init(&built, switches + made->switches, made->link_count, mem, err);
    if (status != ORR_OK) {
        return status;
    }
    memset(built.kinds + made->hosts, TOPO_NODE_NVSWITCH, made->nvswitches);
    memset(built.kinds + switches, TOPO_NODE_SWITCH, made->switches);
    for (uint32_t i = 0; i < made->link_count; i++) {
        const struct topo_made_link *link = &made->links[i];
        const struct topo_class *class = &made->classes[link->class];
        built.links[i] = (struct topo_link){link->a, link->b, class->rate.value, class->delay.value, made->loss};
    }
    status = topo_graph_finish(&built, err);
    if (status != ORR_OK) {
        topo_graph_free(&built);
        return status;
    }
    *graph = built;
    return ORR_OK;
}
