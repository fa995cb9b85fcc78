/* SPDX-License-Identifier: Apache-2.0 */
/* All four are one loop: a mesh leaves the closing links out, a ring is a torus of one dimension, a twist moves the far
 * end of a closing link. */
#include "topo/make/grid.h"

#include <inttypes.h>
#include <string.h>

#include "base/scan.h"

struct twist {
    uint32_t along; /* dimension that is moved along */
    uint32_t by;
};

struct grid {
    uint32_t dims[TOPO_MAX_DIMS];
    uint32_t dim_count;
    uint32_t hosts;
    bool closed; /* the last of a dimension is joined to its first */
    bool direct;
    struct twist twists[TOPO_MAX_DIMS];
    uint32_t classes[TOPO_MAX_DIMS];
};

static bool topo_grid_read_size(const char **at, uint64_t *size)
{
    *at += scan_number(*at, size); /* 0 without digits */
    return *size >= 1 && *size <= TOPO_NODES_MOST;
}

enum orr_status topo_dims_read(const char *what, const char *text, uint32_t *dims, uint32_t *count,
                               struct orr_error *err)
{
    uint64_t product = 1;
    uint32_t read = 0;
    const char *at = text;
    for (;;) {
        uint64_t size = 0;
        if (read == TOPO_MAX_DIMS || !topo_grid_read_size(&at, &size)) {
            return error_set(err, ORR_EINVAL, "%s: \"%.60s\" is not a list of 1 to %d sizes, such as 4x4x8", what, text,
                             TOPO_MAX_DIMS);
        }
        product *= size;
        if (product > TOPO_NODES_MOST) {
            return error_set(err, ORR_ERANGE, "%s: %.60s are more than %d GPUs", what, text, TOPO_NODES_MOST);
        }
        dims[read++] = (uint32_t)size;
        if (*at == '\0') {
            break;
        }
        if (*at++ != 'x') {
            return error_set(err, ORR_EINVAL, "%s: \"%.60s\" has something other than x between its sizes", what, text);
        }
    }
    *count = read;
    return ORR_OK;
}

static enum orr_status bad_twist(const struct grid *grid, const char *text, struct orr_error *err)
{
    return error_set(err, ORR_EINVAL,
                     "parameter 'twist': \"%.60s\" is not D:E:S with two dimensions of 0 to %" PRIu32
                     " and a shift below the size of E, such as 0:1:1",
                     text, grid->dim_count - 1);
}

static enum orr_status read_twists(struct grid *grid, const char *text, struct orr_error *err)
{
    for (const char *at = text;; at++) {
        uint64_t part[3] = {0, 0, 0};
        for (unsigned i = 0; i < 3; i++) {
            size_t digits = scan_number(at, &part[i]);
            at += digits;
            if (digits == 0 || (i < 2 && *at++ != ':')) {
                return bad_twist(grid, text, err);
            }
        }
        bool good = part[0] < grid->dim_count && part[1] < grid->dim_count && part[0] != part[1];
        if (!good || part[2] >= grid->dims[part[1]] || (*at != '\0' && *at != ',')) {
            return bad_twist(grid, text, err);
        }
        grid->twists[part[0]] = (struct twist){(uint32_t)part[1], (uint32_t)part[2]};
        if (*at == '\0') {
            return ORR_OK;
        }
    }
}

static enum orr_status topo_grid_read_shape(struct grid *grid, enum topo_grid kind,
                                            const struct topo_settings *settings, struct orr_error *err)
{
    const char *dims = settings->value[TOPO_SET_DIMS];
    if (kind == TOPO_GRID_RING) {
        uint64_t hosts = 0;
        enum orr_status status = topo_settings_count(settings, TOPO_SET_HOSTS, 8, 2, TOPO_NODES_MOST / 2, &hosts, err);
        grid->dims[0] = (uint32_t)hosts;
        grid->dim_count = 1;
        return status;
    }
    enum orr_status status = topo_dims_read("parameter 'dims'",
                                            dims != NULL             ? dims
                                            : kind == TOPO_GRID_MESH ? "4x4"
                                                                     : "4x4x8",
                                            grid->dims, &grid->dim_count, err);
    if (status == ORR_OK && kind == TOPO_GRID_TWISTED) {
        const char *twist = settings->value[TOPO_SET_TWIST];
        if (grid->dim_count < 2) {
            return error_set(err, ORR_EINVAL, "parameter 'dims': a twisted torus has at least two dimensions");
        }
        status = twist == NULL && grid->dims[1] == 1 ? ORR_OK : read_twists(grid, twist ? twist : "0:1:1", err);
    }
    return status;
}

static enum orr_status read_classes(struct grid *grid, const struct topo_settings *settings, struct topo_made *made,
                                    uint32_t *own, struct orr_error *err)
{
    struct topo_quantity rate;
    struct topo_quantity delay;
    const char *last_rate = settings->value[TOPO_SET_BANDWIDTH];
    enum orr_status status = ORR_OK;
    for (uint32_t d = 0; d < grid->dim_count && status == ORR_OK; d++) {
        status = topo_settings_rate(settings, TOPO_SET_BANDWIDTH, d, "400Gbps", &rate, err);
        if (status == ORR_OK) {
            status = topo_settings_time(settings, TOPO_SET_LATENCY, d, "500ns", &delay, err);
        }
        if (status == ORR_OK) {
            grid->classes[d] = topo_made_class(made, &rate, &delay);
        }
    }
    /* A GPU's own link is as the links of the last dimension, the shortest ones, unless it is said. */
    if (status == ORR_OK) {
        status = topo_settings_rate(settings, TOPO_SET_HOST_BANDWIDTH, 0, last_rate != NULL ? rate.text : "400Gbps",
                                    &rate, err);
    }
    if (status == ORR_OK) {
        status = topo_settings_time(settings, TOPO_SET_HOST_LATENCY, 0, delay.text, &delay, err);
    }
    if (status == ORR_OK) {
        *own = topo_made_class(made, &rate, &delay);
    }
    return status;
}

/* How far apart in number neighbours along dimension `d` are. */
static uint32_t topo_grid_stride_of(const struct grid *grid, uint32_t d)
{
    uint32_t product = 1;
    for (uint32_t i = 0; i < d; i++) {
        product *= grid->dims[i];
    }
    return product;
}

/* The node one further along dimension `d`, or the same node where there is none. */
static uint32_t next_node(const struct grid *grid, uint32_t node, uint32_t d)
{
    uint32_t stride = topo_grid_stride_of(grid, d);
    uint32_t size = grid->dims[d];
    uint32_t at = node / stride % size;
    if (at + 1 < size) {
        return node + stride;
    }
    if (!grid->closed) {
        return node;
    }
    const struct twist *twist = &grid->twists[d];
    uint32_t first = node - at * stride;
    uint32_t along = first / topo_grid_stride_of(grid, twist->along) % grid->dims[twist->along];
    uint32_t moved = twist->by == 0 ? along : (along + twist->by) % grid->dims[twist->along];
    return first - along * topo_grid_stride_of(grid, twist->along) + moved * topo_grid_stride_of(grid, twist->along);
}

/* In an untwisted dimension of two, the closing link is the first one over again. */
static bool is_repeated(const struct grid *grid, uint32_t node, uint32_t next, uint32_t d)
{
    return grid->dims[d] == 2 && grid->twists[d].by == 0 && next < node;
}

static void topo_grid_wire(const struct grid *grid, struct topo_made *made, uint32_t own)
{
    uint32_t first = grid->direct ? 0 : grid->hosts;
    for (uint32_t host = 0; host < grid->hosts; host++) {
        if (!grid->direct) {
            topo_made_link(made, host, first + host, own);
        }
        for (uint32_t d = grid->dim_count; d-- > 0;) {
            uint32_t next = next_node(grid, host, d);
            if (next != host && !is_repeated(grid, host, next, d)) {
                topo_made_link(made, first + host, first + next, grid->classes[d]);
            }
        }
    }
}

enum orr_status topo_grid_make(enum topo_grid kind, const struct topo_settings *settings, struct topo_made *made,
                               struct mem *mem, struct orr_error *err)
{
    struct grid grid = {.closed = kind != TOPO_GRID_MESH, .hosts = 1};
    uint32_t own = 0;
    enum orr_status status = topo_made_init(made, settings, "H100", mem, err);
    if (status == ORR_OK) {
        status = topo_grid_read_shape(&grid, kind, settings, err);
    }
    if (status == ORR_OK) {
        status = read_classes(&grid, settings, made, &own, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    for (uint32_t d = 0; d < grid.dim_count; d++) {
        grid.hosts *= grid.dims[d];
        topo_made_dim(made, grid.dims[d]);
    }
    grid.direct = topo_settings_has(settings, TOPO_SET_DIRECT);
    if (grid.hosts < 2) {
        return error_set(err, ORR_EINVAL, "one GPU is no network; at least two are joined");
    }
    status = topo_made_nodes(made, grid.hosts, 0, grid.direct ? 0 : grid.hosts, err);
    if (status == ORR_OK) {
        status = topo_made_expect(made, (uint64_t)grid.hosts * (grid.dim_count + 1), err);
    }
    if (status == ORR_OK) {
        topo_grid_wire(&grid, made, own);
        status = topo_made_end(made, err);
    }
    return status;
}
