/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of the physical topology: the reader's counterpart (config/topology.c), and the only place that knows the
 * two forms from this side. */
#include "config/topology_write.h"

#include <inttypes.h>

#include "io/outfile.h"

static void config_topology_write_put_link(const struct topo_made *made, uint32_t a, uint32_t b,
                                           const struct topo_class *class, FILE *stream)
{
    (void)fprintf(stream, "%" PRIu32 " %" PRIu32 " %s %s %s\n", a, b, class->rate.text, class->delay.text,
                  made->loss_text);
}

/* SimAI's second line ends with a blank, ASTRA-sim's does not (spec simai §8). */
void config_put_topology(const struct topo_made *made, bool simai, bool both_directions, FILE *stream)
{
    uint32_t switches = made->nvswitches + made->switches;
    uint64_t links = (uint64_t)made->link_count * (both_directions ? 2 : 1);
    (void)fprintf(stream, "%" PRIu32 " ", made->hosts + switches);
    if (simai) {
        (void)fprintf(stream, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %s\n", made->gpus_per_server,
                      made->nvswitches, made->switches, links, made->gpu_type);
    } else {
        (void)fprintf(stream, "%" PRIu32 " %" PRIu64 "\n", switches, links);
    }
    for (uint32_t i = 0; i < switches; i++) {
        (void)fprintf(stream, "%" PRIu32 "%s", made->hosts + i, simai || i + 1 < switches ? " " : "");
    }
    (void)fputc('\n', stream);
    for (uint32_t i = 0; i < made->link_count; i++) {
        const struct topo_made_link *link = &made->links[i];
        config_topology_write_put_link(made, link->a, link->b, &made->classes[link->class], stream);
        if (both_directions) {
            config_topology_write_put_link(made, link->b, link->a, &made->classes[link->class], stream);
        }
    }
}

enum orr_status config_write_topology(const struct topo_made *made, const char *path, bool simai, bool both_directions,
                                      struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    config_put_topology(made, simai, both_directions, io_outfile_stream(file));
    return io_outfile_commit(file, err);
}

enum orr_status config_write_logical(const struct topo_made *made, const char *path, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    FILE *stream = io_outfile_stream(file);
    (void)fputs("{\"logical-dims\": [", stream);
    for (uint32_t i = 0; i < made->dim_count; i++) {
        (void)fprintf(stream, "%s\"%" PRIu32 "\"", i == 0 ? "" : ", ", made->dims[i]);
    }
    (void)fputs("]}\n", stream);
    return io_outfile_commit(file, err);
}
