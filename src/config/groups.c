/* SPDX-License-Identifier: Apache-2.0 */
/* The two formats whose keys are numbers: communicator groups and custom collectives by node. They have one row each,
 * for the reference; the reading is by hand because every key is a record of its own. Both sort by number before they
 * look for duplicates, so that "1" and "01" are the same group and a file of a million entries stays quick. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "config/config.h"
#include "config/table.h"
#include "io/json.h"
#include "io/kind.h"
#include "io/yaml.h"

static const struct config_row group_rows[] = {
    {.key = "<group id>",
     .type = CONFIG_RANKS,
     .flags = CONFIG_ANY_KEY,
     .help = "the group's ranks, each once; their order is the order of the group's ring"},
};

const struct config_format config_format_groups = {
    .id = "groups",
    .title = "Communicator groups",
    .option = "groups",
    .syntax = "json",
    .summary =
        "Which ranks take part in a collective whose `pg_name` is the group's id. Ids are whole numbers above 0; "
        "group 0 is all ranks and needs no entry. A file whose name contains `empty` is not read and means no "
        "groups, as in ASTRA-sim.",
    .example = "{\n"
               "  \"1\": [0, 1, 2, 3],\n"
               "  \"2\": [4, 5, 6, 7]\n"
               "}\n",
    .rows = group_rows,
    .row_count = 1,
};

static const struct config_row custom_node_rows[] = {
    {.key = "<node id>",
     .type = CONFIG_PATH,
     .flags = CONFIG_ANY_KEY,
     .help = "the collective of this node is carried out as the traces PATH.RANK.et say"},
};

const struct config_format config_format_custom_nodes = {
    .id = "custom-nodes",
    .title = "Custom collectives by node",
    .option = NULL,
    .syntax = "yaml",
    .summary =
        "Named by `per-node-custom-implementation` in the system file. Paths are relative to the working directory.",
    .example = "2: collectives/all_reduce_tree\n"
               "17: collectives/all_reduce_ring\n",
    .rows = custom_node_rows,
    .row_count = 1,
};

struct groups_parse {
    const struct config_reader *reader;
    uint32_t ranks;
    uint32_t *seen_in; /* by rank: 1 + index of the last group that named it */
};

static enum orr_status config_groups_refuse_key(const struct config_reader *reader, const struct io_value *value,
                                                const char *accepted)
{
    char key[80];
    return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": the key \"%s\" is not %s", reader->name, value->key_line,
                     io_text_printable(value->key, key, sizeof key), accepted);
}

static enum orr_status check_map(const struct config_reader *reader, const struct io_value *root, const char *what)
{
    if (root->kind == IO_MAP) {
        return ORR_OK;
    }
    char found[96];
    return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": found %s; a map of %s is expected", reader->name,
                     root->line, io_value_describe(root, found, sizeof found), what);
}

static enum orr_status config_groups_read_rank(struct groups_parse *parse, const struct io_value *item, int32_t id,
                                               uint32_t group, uint32_t *rank)
{
    const struct config_reader *reader = parse->reader;
    char found[96];
    (void)io_value_describe(item, found, sizeof found);
    if (item->kind != IO_INTEGER || item->integer < 0 || item->integer >= (int64_t)parse->ranks) {
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": group %" PRId32 " names rank %s; accepted: 0 to %" PRIu32
                         ", the ranks of the network",
                         reader->name, item->line, id, found, parse->ranks - 1);
    }
    uint32_t number = (uint32_t)item->integer;
    if (parse->seen_in[number] == group + 1) {
        return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": group %" PRId32 " names rank %" PRIu32 " twice",
                         reader->name, item->line, id, number);
    }
    parse->seen_in[number] = group + 1;
    *rank = number;
    return ORR_OK;
}

static enum orr_status read_group(struct groups_parse *parse, const struct io_value *value, uint32_t index,
                                  struct sim_group *group)
{
    const struct config_reader *reader = parse->reader;
    uint64_t id = 0;
    if (!scan_whole(value->key, strlen(value->key), INT32_MAX, &id)) {
        return config_groups_refuse_key(reader, value, "a group id; accepted: a whole number, 1 to 2147483647");
    }
    if (id == 0) {
        return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": group 0 means all ranks and cannot be redefined",
                         reader->name, value->key_line);
    }
    if (value->kind != IO_LIST || value->count == 0) {
        char found[96];
        return error_set(reader->err, ORR_EINVAL,
                         "%s:%" PRIu32 ": group %" PRIu64 " is %s; accepted: a list of ranks, not empty", reader->name,
                         value->line, id, io_value_describe(value, found, sizeof found));
    }
    uint32_t *ranks = arena_alloc(reader->arena, (size_t)value->count * sizeof *ranks);
    if (ranks == NULL) {
        return mem_error(reader->arena->mem, reader->name, reader->err);
    }
    uint32_t count = 0;
    for (const struct io_value *item = value->first; item != NULL; item = item->next) {
        enum orr_status status = config_groups_read_rank(parse, item, (int32_t)id, index, &ranks[count]);
        if (status != ORR_OK) {
            return status;
        }
        count++;
    }
    *group = (struct sim_group){.id = (int32_t)id, .count = count, .ranks = ranks};
    return ORR_OK;
}

static int by_group_id(const void *a, const void *b)
{
    const struct sim_group *x = a;
    const struct sim_group *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static enum orr_status config_groups_read_groups(struct groups_parse *parse, const struct io_value *root,
                                                 struct sim_group *groups)
{
    const struct config_reader *reader = parse->reader;
    uint32_t index = 0;
    for (const struct io_value *value = root->first; value != NULL; value = value->next) {
        enum orr_status status = read_group(parse, value, index, &groups[index]);
        if (status != ORR_OK) {
            return status;
        }
        index++;
    }
    qsort(groups, index, sizeof *groups, by_group_id);
    for (uint32_t i = 1; i < index; i++) {
        if (groups[i].id == groups[i - 1].id) {
            return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": group %" PRId32 " is there twice", reader->name,
                             root->line, groups[i].id);
        }
    }
    return ORR_OK;
}

enum orr_status config_parse_groups(const char *name, const char *text, size_t size, uint32_t ranks,
                                    struct arena *arena, struct notes *notes, struct sim_group **groups,
                                    uint32_t *count, struct orr_error *err)
{
    struct arena scratch;
    arena_init(&scratch, notes->arena.mem);
    struct config_reader reader = {.name = name, .arena = arena, .notes = notes, .err = err};
    struct groups_parse parse = {.reader = &reader, .ranks = ranks};
    struct io_value *root = NULL;
    struct sim_group *made = NULL;
    enum orr_status status = file_kind_check(name, text, size, FILE_KIND_GROUPS, NULL, err);
    if (status == ORR_OK) {
        status = io_json_parse(name, text, size, &scratch, &root, err);
    }
    if (status == ORR_OK) {
        status = check_map(&reader, root, "group ids to lists of ranks");
    }
    if (status == ORR_OK) {
        parse.seen_in = arena_zalloc(&scratch, (size_t)ranks * sizeof *parse.seen_in);
        made = arena_alloc(arena, (size_t)root->count * sizeof *made);
        status = parse.seen_in == NULL || made == NULL ? mem_error(arena->mem, name, err)
                                                       : config_groups_read_groups(&parse, root, made);
    }
    if (status == ORR_OK) {
        *groups = made;
        *count = root->count;
    }
    arena_free(&scratch);
    return status;
}

static int by_node_id(const void *a, const void *b)
{
    const struct config_custom_node *x = a;
    const struct config_custom_node *y = b;
    return (x->node_id > y->node_id) - (x->node_id < y->node_id);
}

static enum orr_status read_custom_nodes(const struct config_reader *reader, const struct io_value *root,
                                         struct config_custom_node *nodes)
{
    uint32_t count = 0;
    for (const struct io_value *value = root->first; value != NULL; value = value->next) {
        if (!scan_whole(value->key, strlen(value->key), UINT64_MAX, &nodes[count].node_id)) {
            return config_groups_refuse_key(reader, value, "a node id; accepted: a whole number, 0 or more");
        }
        enum orr_status status = config_path_read(reader, &custom_node_rows[0], value, &nodes[count].path);
        if (status != ORR_OK) {
            return status;
        }
        count++;
    }
    qsort(nodes, count, sizeof *nodes, by_node_id);
    for (uint32_t i = 1; i < count; i++) {
        if (nodes[i].node_id == nodes[i - 1].node_id) {
            return error_set(reader->err, ORR_EINVAL, "%s:%" PRIu32 ": node %" PRIu64 " is there twice", reader->name,
                             root->line, nodes[i].node_id);
        }
    }
    return ORR_OK;
}

enum orr_status config_parse_custom_nodes(const char *name, const char *text, size_t size, struct arena *arena,
                                          struct notes *notes, struct config_custom_node **nodes, uint32_t *count,
                                          struct orr_error *err)
{
    struct arena scratch;
    arena_init(&scratch, notes->arena.mem);
    struct config_reader reader = {.name = name, .arena = arena, .notes = notes, .err = err};
    struct io_value *root = NULL;
    struct config_custom_node *made = NULL;
    enum orr_status status = io_yaml_parse(name, text, size, &scratch, &root, err);
    if (status == ORR_OK) {
        status = check_map(&reader, root, "node ids to paths");
    }
    if (status == ORR_OK) {
        made = arena_alloc(arena, (size_t)root->count * sizeof *made);
        status = made == NULL ? mem_error(arena->mem, name, err) : read_custom_nodes(&reader, root, made);
    }
    if (status == ORR_OK) {
        *nodes = made;
        *count = root->count;
    }
    arena_free(&scratch);
    return status;
}
