/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of a lab run written out as the small files that `orrery run` takes, so that whoever doubts a result can
 * repeat it, or change one line and see: network.yml for the networks of dimensions; config.txt, topology.txt and
 * logical.json for those of wires; system.json where the user brings none.
 *
 * Texts live in the caller's arena. Knows how files are spelled, not what runs on them.
 */
#ifndef ORR_RUN_MACHINE_FILES_H
#define ORR_RUN_MACHINE_FILES_H

#include "base/arena.h"
#include "orrery.h"
#include "run/machine_name.h"

/* Rates or times, one for all dimensions or one for each, dimension 0 first. */
struct lab_quantities {
    uint32_t count;
    uint64_t value[TOPO_MAX_DIMS];   /* bit/s or ns */
    const char *text[TOPO_MAX_DIMS]; /* with its unit: "25Gbps", "0.5us" */
    const char *list;                /* all of them, as in "25Gbps,65Gbps" */
};

/* "25", "25Gbps,25Gbps,65Gbps"; bare numbers are Gbps. `option` goes before messages. */
ORR_MUST_CHECK enum orr_status lab_rates_read(const char *option, const char *text, struct arena *arena,
                                              struct lab_quantities *rates, struct orr_error *err);
/* "1", "500ns"; bare numbers are us. */
ORR_MUST_CHECK enum orr_status lab_times_read(const char *option, const char *text, struct arena *arena,
                                              struct lab_quantities *times, struct orr_error *err);

/* Files that are kept in memory instead. */
enum { LAB_TEXTS_MOST = 4 };

struct lab_texts {
    struct orr_text text[LAB_TEXTS_MOST];
    uint32_t count;
};

struct lab_machine_request {
    const struct lab_machine *machine; /* settled, or a FILE */
    const char *folder;                /* where the files go */
    const char *system;                /* the user's own, or NULL */
    enum orr_backend backend;
    const struct lab_quantities *rates, *times; /* of a FILE: what lab_machine_file_dims found */
    const struct orr_notices *notices;
    struct lab_texts *texts; /* NULL: files are written; else nothing is, and the texts live in the arena */
};

/* Paths for struct orr_run_options; NULL where a network needs none. */
struct lab_machine_files {
    const char *system, *network, *logical;
    const char *topology; /* where the network's TOPOLOGY_FILE lies; NULL: it says so itself */
};

/* ORR_EINVAL when the lists of rates or times fit neither one nor all dimensions. */
ORR_MUST_CHECK enum orr_status lab_machine_check(const struct lab_machine_request *request, struct orr_error *err);
ORR_MUST_CHECK enum orr_status lab_machine_write(const struct lab_machine_request *request, struct arena *arena,
                                                 struct lab_machine_files *files, struct orr_error *err);

/* The wires of a settled machine that is no FILE; the caller closes them. */
ORR_MUST_CHECK enum orr_status lab_machine_topology(const struct lab_machine_request *request, struct orr_topo **topo,
                                                    struct orr_error *err);

/* The ranks and dimensions of a FILE: those of a network.yml, or one dimension of all hosts of a physical topology, of
 * which `rates` then has the different rates, without texts. */
ORR_MUST_CHECK enum orr_status lab_machine_file_dims(struct lab_machine *machine, struct mem *mem,
                                                     struct lab_quantities *rates, struct orr_error *err);
/* Bandwidth and latency as the options say, else the machine's own, else 25 Gbps and 1 us. ORR_EINVAL where a MADE or a
 * FILE says them itself. */
ORR_MUST_CHECK enum orr_status lab_machine_rates(const struct lab_machine *machine,
                                                 const struct orr_run_options *options, struct arena *arena,
                                                 struct lab_quantities *rates, struct lab_quantities *times,
                                                 struct orr_error *err);

/* The name or line that topo/make makes a MADE of. */
const char *lab_machine_made_of(const struct lab_machine *machine);
/* Ranks and dimensions of a MADE, servers settled, and the rates and latencies of each dimension: of a GPU's links
 * inside, and of its share of the NICs. */
ORR_MUST_CHECK enum orr_status lab_machine_made_dims(struct lab_machine *machine, struct arena *arena,
                                                     struct lab_quantities *rates, struct lab_quantities *times,
                                                     struct orr_error *err);
/* Whether a FILE is a network.yml, by its ending. */
bool lab_machine_is_network(const struct lab_machine *machine);

#endif
