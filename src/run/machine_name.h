/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in a few words: "dgx-h100:16", "dgx-h100:16 > rail > spine:8", "8gpu_ring2d_4", "128gpu_torus3d_16",
 * "auto:2d", "dims:4x4x8", or the path of a file. docs/machines.md has the grammar; the kinds are one table, here, the
 * makes are data (presets/machines).
 *
 * Two steps, because a word may leave the number of ranks open: run_machine_parse reads what is said, and
 * run_machine_settle lays a number of ranks out in dimensions. Opens no file; knows no rates.
 */
#ifndef ORR_RUN_MACHINE_NAME_H
#define ORR_RUN_MACHINE_NAME_H

#include "base/error.h"
#include "orrery.h"
#include "topo/dims.h"
#include "topo/make/server.h"

/* name, word, dimensions (0: as many as there are sizes), how each is joined, the generator of its wires, whether only
 * the wires tell it from others, what it is */
#define RUN_MACHINES(X)                                                                                                \
    X(AUTO1D, "auto1d", 1, RING, "torus", false, "one ring")                                                           \
    X(AUTO2D, "auto2d", 2, RING, "torus", false, "rings in two dimensions, as square as the number allows")            \
    X(AUTO3D, "auto3d", 3, RING, "torus", false, "rings in three dimensions, as near to a cube as the number allows")  \
    X(RING, "ring", 1, RING, "torus", false, "one ring")                                                               \
    X(RING2D, "ring2d", 2, RING, "torus", false, "rings in two dimensions")                                            \
    X(MESH2D, "mesh2d", 2, RING, "mesh", true, "a grid, its rows and columns not closed")                              \
    X(TORUS2D, "torus2d", 2, RING, "torus", false, "rings in two dimensions")                                          \
    X(TORUS3D, "torus3d", 3, RING, "torus", false, "rings in three dimensions")                                        \
    X(TTORUS3D, "ttorus3d", 3, RING, "twisted-torus", true, "the links that close dimension 0 move by one along 1")    \
    X(FATTREE, "fattree", 1, SWITCH, "fat-tree", true, "leaves below spines, half as many")                            \
    X(DRAGONFLY, "dragonfly", 2, SWITCH, "dragonfly", true, "groups of routers, all joined to all inside and between") \
    X(RAIL_ONLY, "rail-only", 2, SWITCH, "rail-only", true,                                                            \
      "servers on NVSwitches, their GPUs on rails without spines")                                                     \
    X(SWITCH, "switch", 1, SWITCH, "single-switch", false, "all on one switch")                                        \
    X(FC, "fc", 1, FULLY_CONNECTED, "fully-connected", false, "a link for each pair")                                  \
    X(DIMS, "dims", 0, RING, "torus", false, "rings in the dimensions that are named")

enum run_machine_kind {
#define RUN_X(name, word, dims, join, wires, wired, about) RUN_MACHINE_##name,
    RUN_MACHINES(RUN_X)
#undef RUN_X
        RUN_MACHINE_MADE, /* servers of a make, or a line of topo/make/grammar.h, or another of topo/make/make.h's names
                           */
    RUN_MACHINE_FILE
};

/* A row of RUN_MACHINES, by its kind; not of MADE and FILE. */
struct run_machine_row {
    const char *word, *wires;
    uint32_t dims;
    enum topo_kind join;
    bool wired;
};
extern const struct run_machine_row run_machine_rows[];

struct run_machine {
    enum run_machine_kind kind;
    const char *path;      /* FILE: part of the text that was parsed */
    bool is_network;       /* FILE: of dimensions, not of wires; by its name, until it is read */
    bool is_logical;       /* FILE: of dimensions alone, without rates; once it is read */
    uint64_t reserved_mib; /* FILE of wires, once it is read: what its largest switch sets aside */
    const char *line; /* MADE: what topo/make makes of it, part of the text; NULL: as many `server` as the ranks need */
    const struct topo_server *server; /* MADE: of which it is; NULL: of none */
    const char *device;               /* of presets/devices; NULL: not known */
    const char *rate, *latency;       /* of a preset grid, where nothing else is said; else NULL */
    uint32_t usual;                   /* ranks of a preset grid, where nothing else is said; else 0 */
    uint32_t ranks;                   /* 0: the word leaves it open */
    uint32_t groups;                  /* scale-out groups; fat trees: leaves; 0: not said */
    uint32_t sizes[TOPO_MAX_DIMS];
    uint32_t size_count;          /* 0: not said */
    uint32_t dims[TOPO_MAX_DIMS]; /* once settled, without those of 1 */
    uint32_t dim_count;
};

enum { RUN_MACHINE_NAME = 96 };

/* ORR_EINVAL with "parameter 'machine': " before the reason and the nearest kind; ORR_ERANGE for numbers beyond 31
 * bits. */
ORR_MUST_CHECK enum orr_status run_machine_parse(const char *text, struct run_machine *machine, struct orr_error *err);

/* How many ranks the word says, by their number or by its sizes; 0: it leaves them open, UINT32_MAX: beyond 31 bits. */
uint32_t run_machine_told(const struct run_machine *machine);

/* Lays `ranks` out, which must be those of the word where it names them; not for a FILE. ORR_EINVAL where groups or
 * sizes do not fit the number. */
ORR_MUST_CHECK enum orr_status run_machine_settle(struct run_machine *machine, uint32_t ranks, struct orr_error *err);

const char *run_machine_word(enum run_machine_kind kind);
/* How dimension `dim` of a settled machine is joined; of a FILE: as rings, which all machines can do. */
enum topo_kind run_machine_join(const struct run_machine *machine, uint32_t dim);
const char *run_machine_wires(enum run_machine_kind kind);   /* a name for topo/make/make.h; not of MADE and FILE */
bool run_machine_is_grid(const struct run_machine *machine); /* rings, meshes and tori */
bool run_machine_is_wired(enum run_machine_kind kind);       /* dimensions alone do not tell it */

/* What a settled machine says to the generator of its wires, besides rates and times. */
struct run_machine_wiring {
    struct orr_topo_setting settings[4];
    size_t count;
    char texts[4][RUN_MACHINE_NAME];
};
void run_machine_wire(const struct run_machine *machine, struct run_machine_wiring *wiring);

/* "4x4x8" of the settled dimensions. */
void run_machine_dims_text(const struct run_machine *machine, char text[RUN_MACHINE_NAME]);
/* What a settled machine is called in names of folders: "128gpu_torus3d_4x4x8". */
void run_machine_name(const struct run_machine *machine, char text[RUN_MACHINE_NAME]);

#endif
