/* SPDX-License-Identifier: Apache-2.0 */
/* The file-reading half of each reader: the same four lines five times, kept apart so that everything that decides
 * something can be tested and fuzzed without a file. */
#include <string.h>

#include "config/config.h"
#include "config/wired.h"
#include "io/file.h"

/* Reads the file, calls `parse`, an expression over `file`, and gives the memory back. */
#define WITH_FILE(path, mem, err, parse)                                                                               \
    struct file_buffer file;                                                                                           \
    file_buffer_init(&file, mem);                                                                                      \
    enum orr_status status = file_buffer_read(&file, path, err);                                                       \
    if (status == ORR_OK) {                                                                                            \
        status = (parse);                                                                                              \
    }                                                                                                                  \
    file_buffer_free(&file);                                                                                           \
    return status

enum orr_status config_read_network(const char *path, struct notes *notes, struct topo_dims *dims,
                                    struct orr_error *err)
{
    WITH_FILE(path, notes->arena.mem, err,
              config_parse_network(path, (const char *)file.bytes, file.size, notes, dims, err));
}

enum orr_status config_read_system(const char *path, double injection_scale, struct arena *arena, struct notes *notes,
                                   struct sim_system *system, struct config_custom *custom, struct orr_error *err)
{
    WITH_FILE(path, notes->arena.mem, err,
              config_parse_system(path, (const char *)file.bytes, file.size, injection_scale, arena, notes, system,
                                  custom, err));
}

enum orr_status config_read_groups(const char *path, uint32_t ranks, struct arena *arena, struct notes *notes,
                                   struct sim_group **groups, uint32_t *count, struct orr_error *err)
{
    if (strstr(path, "empty") != NULL) {
        /* "empty" is how scripts say "none"; only where there is a file does something go unread. */
        enum orr_status noted = file_exists(path) ? notes_add(notes, err,
                                                              "%s: not read, because a name that contains \"empty\" "
                                                              "means no groups, as in ASTRA-sim",
                                                              path)
                                                  : ORR_OK;
        if (noted == ORR_OK) {
            *groups = NULL;
            *count = 0;
        }
        return noted;
    }
    WITH_FILE(path, notes->arena.mem, err,
              config_parse_groups(path, (const char *)file.bytes, file.size, ranks, arena, notes, groups, count, err));
}

enum orr_status config_read_custom_nodes(const char *path, struct arena *arena, struct notes *notes,
                                         struct config_custom_node **nodes, uint32_t *count, struct orr_error *err)
{
    WITH_FILE(path, notes->arena.mem, err,
              config_parse_custom_nodes(path, (const char *)file.bytes, file.size, arena, notes, nodes, count, err));
}

enum orr_status config_read_packet(const char *path, struct arena *arena, struct notes *notes,
                                   struct packet_config *config, struct config_packet_files *files,
                                   struct orr_error *err)
{
    WITH_FILE(path, notes->arena.mem, err,
              config_parse_packet(path, (const char *)file.bytes, file.size, arena, notes, config, files, err));
}

enum orr_status config_read_topology(const char *path, struct arena *arena, struct notes *notes,
                                     struct topo_graph *graph, struct config_wired_extra *extra, struct orr_error *err)
{
    WITH_FILE(path, notes->arena.mem, err,
              config_parse_topology(path, (const char *)file.bytes, file.size, arena, notes, graph, extra, err));
}
