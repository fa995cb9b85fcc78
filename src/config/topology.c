/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The physical topology. Two forms, told apart by the first line: three numbers (ASTRA-sim) or five numbers and a GPU
 * type (SimAI). The reference believes whatever the file says and reads past what is missing; here every number is held
 * against the counts of the header, and a machine whose hosts cannot reach each other is said to be one.
 */
#include <inttypes.h>
#include <string.h>

#include "config/wired.h"
#include "config/words.h"
#include "io/kind.h"

enum { NODES_MOST = 1 << 24, LINKS_MOST = 1 << 26 };

struct topology_reader {
    struct words words;
    struct arena *arena;
    struct notes *notes;
    struct topo_graph *graph;
    uint64_t nodes, nvswitches, switches, links;
    struct config_wired_extra extra;
};

static enum orr_status config_topology_read_count(struct topology_reader *reader, const char *what, uint64_t most,
                                                  uint64_t *value, struct orr_error *err)
{
    struct word word;
    enum orr_status status = words_need(&reader->words, what, &word, err);
    return status == ORR_OK ? word_count(&reader->words, &word, what, most, value, err) : status;
}

/* How many words the first line has. */
static unsigned first_line_words(const char *text, size_t size)
{
    const char *end = memchr(text, '\n', size);
    struct words words;
    struct word word;
    unsigned count = 0;
    words_init(&words, "", text, end == NULL ? size : (size_t)(end - text));
    while (words_next(&words, &word)) {
        count++;
    }
    return count;
}

static enum orr_status config_topology_read_header(struct topology_reader *reader, bool simai, struct orr_error *err)
{
    uint64_t gpus_per_server = 0;
    enum orr_status status = config_topology_read_count(reader, "the number of nodes", NODES_MOST, &reader->nodes, err);
    if (status == ORR_OK && simai) {
        status = config_topology_read_count(reader, "the GPUs of a server", NODES_MOST, &gpus_per_server, err);
        if (status == ORR_OK) {
            status =
                config_topology_read_count(reader, "the number of NVSwitches", NODES_MOST, &reader->nvswitches, err);
        }
    }
    if (status == ORR_OK) {
        status = config_topology_read_count(reader, "the number of switches", NODES_MOST, &reader->switches, err);
    }
    if (status == ORR_OK) {
        status = config_topology_read_count(reader, "the number of links", LINKS_MOST, &reader->links, err);
    }
    if (status == ORR_OK && simai) {
        struct word word;
        status = words_need(&reader->words, "the GPU type", &word, err);
        reader->extra.gpus_per_server = (uint32_t)gpus_per_server;
        reader->extra.gpu_type = status == ORR_OK ? arena_strndup(reader->arena, word.text, word.length) : "";
        if (reader->extra.gpu_type == NULL) {
            status = mem_error(reader->arena->mem, "the topology", err);
        }
    }
    if (status == ORR_OK && reader->nodes <= reader->switches + reader->nvswitches) {
        status = error_set(err, ORR_EINVAL,
                           "%s:1: %" PRIu64 " nodes of which %" PRIu64 " are switches leave no host; the header is "
                           "nodes, switches, links",
                           reader->words.name, reader->nodes, reader->switches + reader->nvswitches);
    }
    return status;
}

static enum orr_status read_switches(struct topology_reader *reader, uint64_t count, enum topo_node_kind kind,
                                     struct orr_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        struct word word;
        uint64_t id = 0;
        enum orr_status status = words_need(&reader->words, "the number of a switch", &word, err);
        if (status == ORR_OK) {
            status = word_count(&reader->words, &word, "the number of a switch", UINT32_MAX, &id, err);
        }
        if (status == ORR_OK && id >= reader->nodes) {
            status =
                error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": switch %" PRIu64 " is not one of the nodes 0 to %" PRIu64,
                          reader->words.name, word.line, id, reader->nodes - 1);
        }
        if (status == ORR_OK && reader->graph->kinds[id] != TOPO_NODE_HOST) {
            status = error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": switch %" PRIu64 " is named twice", reader->words.name,
                               word.line, id);
        }
        if (status != ORR_OK) {
            return status;
        }
        reader->graph->kinds[id] = (uint8_t)kind;
    }
    return ORR_OK;
}

static enum orr_status read_link(struct topology_reader *reader, struct topo_link *link, struct orr_error *err)
{
    struct word word;
    uint64_t ends[2] = {0, 0};
    uint64_t line = 0;
    for (unsigned i = 0; i < 2; i++) {
        enum orr_status status =
            words_need(&reader->words, "a link (source, destination, rate, delay, loss)", &word, err);
        if (status == ORR_OK) {
            status = word_count(&reader->words, &word, "a link's end", UINT32_MAX, &ends[i], err);
        }
        if (status == ORR_OK && ends[i] >= reader->nodes) {
            status = error_set(err, ORR_EINVAL,
                               "%s:%" PRIu64 ": a link ends at node %" PRIu64 "; the nodes are 0 to %" PRIu64,
                               reader->words.name, word.line, ends[i], reader->nodes - 1);
        }
        if (status != ORR_OK) {
            return status;
        }
        line = word.line;
    }
    if (ends[0] == ends[1]) {
        return error_set(err, ORR_EINVAL, "%s:%" PRIu64 ": a link joins node %" PRIu64 " to itself", reader->words.name,
                         line, ends[0]);
    }
    link->a = (uint32_t)ends[0];
    link->b = (uint32_t)ends[1];
    enum orr_status status = words_need(&reader->words, "a link's rate", &word, err);
    if (status == ORR_OK) {
        status = word_rate(&reader->words, &word, "a link's rate", &link->rate_bps, err);
    }
    if (status == ORR_OK && link->rate_bps == 0) {
        status = error_set(err, ORR_ERANGE, "%s:%" PRIu64 ": a link's rate is 0", reader->words.name, word.line);
    }
    if (status == ORR_OK) {
        status = words_need(&reader->words, "a link's delay", &word, err);
    }
    if (status == ORR_OK) {
        status = word_time(&reader->words, &word, "a link's delay", &link->delay_ns, err);
    }
    if (status == ORR_OK) {
        status = words_need(&reader->words, "a link's share of lost packets", &word, err);
    }
    return status == ORR_OK
               ? word_real(&reader->words, &word, "a link's share of lost packets", 0, 1, &link->error_rate, err)
               : status;
}

/* Links between the same two nodes: of those a flow can only use the last. */
static uint64_t count_parallel(const struct topo_graph *graph)
{
    uint64_t parallel = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        for (uint32_t port = graph->port_start[node]; port < graph->port_start[node + 1]; port++) {
            uint32_t other = graph->ports[graph->ports[port].peer].node;
            for (uint32_t later = port + 1; other > node && later < graph->port_start[node + 1]; later++) {
                if (graph->ports[graph->ports[later].peer].node == other) {
                    parallel++;
                    break;
                }
            }
        }
    }
    return parallel;
}

/* Hosts that nothing joins to host 0, whoever forwards: the reference says nothing and waits for ever. */
static enum orr_status note_islands(struct topology_reader *reader, struct orr_error *err)
{
    const struct topo_graph *graph = reader->graph;
    uint32_t *line = mem_alloc(graph->mem, (size_t)graph->node_count * sizeof *line);
    uint8_t *seen = mem_zalloc(graph->mem, graph->node_count);
    uint32_t count = 0;
    uint32_t example = 0;
    uint64_t apart = 0;
    bool made = line != NULL && seen != NULL;
    for (uint32_t node = 0; made && node < graph->node_count && count == 0; node++) {
        if (graph->kinds[node] == TOPO_NODE_HOST) {
            seen[node] = 1;
            line[count++] = node;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        for (uint32_t port = graph->port_start[line[at]]; port < graph->port_start[line[at] + 1]; port++) {
            uint32_t other = graph->ports[graph->ports[port].peer].node;
            if (!seen[other]) {
                seen[other] = 1;
                line[count++] = other;
            }
        }
    }
    for (uint32_t node = graph->node_count; made && node-- > 0;) {
        if (graph->kinds[node] == TOPO_NODE_HOST && !seen[node]) {
            example = node;
            apart++;
        }
    }
    uint32_t first = made ? line[0] : 0;
    mem_free(graph->mem, line, (size_t)graph->node_count * sizeof *line);
    mem_free(graph->mem, seen, graph->node_count);
    if (!made) {
        return mem_error(graph->mem, "the topology", err);
    }
    return apart == 0 ? ORR_OK
                      : notes_add(reader->notes, err,
                                  "%s: %" PRIu64 " host%s no way to host %" PRIu32 ", such as host %" PRIu32
                                  ": messages between them never arrive",
                                  reader->words.name, apart, apart == 1 ? " has" : "s have", first, example);
}

static enum orr_status config_topology_check(struct topology_reader *reader, struct orr_error *err)
{
    const struct topo_graph *graph = reader->graph;
    struct word word;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        if (graph->kinds[node] == TOPO_NODE_HOST && graph->port_start[node] == graph->port_start[node + 1]) {
            return error_set(err, ORR_EINVAL, "%s: host %" PRIu32 " has no link", reader->words.name, node);
        }
    }
    if (words_next(&reader->words, &word)) {
        char room[WORD_ROOM];
        enum orr_status status = notes_add(
            reader->notes, err, "%s:%" PRIu64 ": \"%s\" and what follows is ignored: the header says %" PRIu64 " links",
            reader->words.name, word.line, word_text(&word, room), reader->links);
        if (status != ORR_OK) {
            return status;
        }
    }
    enum orr_status islands = note_islands(reader, err);
    if (islands != ORR_OK) {
        return islands;
    }
    uint64_t parallel = count_parallel(graph);
    return parallel == 0
               ? ORR_OK
               : notes_add(reader->notes, err,
                           "%s: %" PRIu64 " link%s between nodes that a later link joins again: only the last "
                           "of parallel links carries traffic (parameter 'parallel-links' uses all)",
                           reader->words.name, parallel, parallel == 1 ? " is" : "s are");
}

enum orr_status config_parse_topology(const char *name, const char *text, size_t size, struct arena *arena,
                                      struct notes *notes, struct topo_graph *graph, struct config_wired_extra *extra,
                                      struct orr_error *err)
{
    struct topo_graph read = {0};
    struct topology_reader reader = {.arena = arena, .notes = notes, .graph = &read, .extra = {.gpu_type = ""}};
    words_init(&reader.words, name, text, size);
    enum orr_status status = file_kind_check(name, text, size, FILE_KIND_WIRES, NULL, err);
    if (status == ORR_OK) {
        status = config_topology_read_header(&reader, first_line_words(text, size) >= 6, err);
    }
    /* Every link takes at least ten characters: a count beyond that is a lie, and not worth its memory. */
    if (status == ORR_OK && reader.links > size / 10) {
        status = error_set(err, ORR_EINVAL, "%s:1: the header says %" PRIu64 " links, more than the file can hold",
                           name, reader.links);
    }
    if (status == ORR_OK) {
        status = topo_graph_init(&read, (uint32_t)reader.nodes, (uint32_t)reader.links, arena->mem, err);
    }
    if (status == ORR_OK) {
        status = read_switches(&reader, reader.nvswitches, TOPO_NODE_NVSWITCH, err);
    }
    if (status == ORR_OK) {
        status = read_switches(&reader, reader.switches, TOPO_NODE_SWITCH, err);
    }
    for (uint64_t i = 0; status == ORR_OK && i < reader.links; i++) {
        status = read_link(&reader, &read.links[i], err);
    }
    if (status == ORR_OK) {
        status = topo_graph_finish(&read, err);
    }
    if (status == ORR_OK) {
        status = config_topology_check(&reader, err);
    }
    if (status != ORR_OK) {
        topo_graph_free(&read);
        return status;
    }
    *graph = read;
    *extra = reader.extra;
    return ORR_OK;
}
