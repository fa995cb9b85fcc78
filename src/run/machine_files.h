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

#include "run/machine_read.h"

/* Files that are kept in memory instead. */
enum { RUN_TEXTS_MOST = 4 };

struct run_texts {
    struct orr_text text[RUN_TEXTS_MOST];
    uint32_t count;
};

struct run_machine_request {
    const struct run_machine *machine; /* settled, or a FILE */
    const char *folder;                /* where the files go */
    const char *system;                /* the user's own, or NULL */
    enum orr_backend backend;
    const struct run_quantities *rates, *times; /* as run_machine_read has them */
    const struct orr_notices *notices;
    struct run_texts *texts; /* NULL: files are written; else nothing is, and the texts live in the arena */
    bool simai;              /* the wires in SimAI's form, whatever the machine is */
};

/* Paths for struct orr_run_options; NULL where a network needs none. */
struct run_machine_files {
    const char *system, *network, *logical;
    const char *topology; /* where the network's TOPOLOGY_FILE lies; NULL: it says so itself */
};

/* ORR_EINVAL when the lists of rates or times fit neither one nor all dimensions. */
ORR_MUST_CHECK enum orr_status run_machine_check(const struct run_machine_request *request, struct orr_error *err);
ORR_MUST_CHECK enum orr_status run_machine_write(const struct run_machine_request *request, struct arena *arena,
                                                 struct run_machine_files *files, struct orr_error *err);

/* The wires of a settled machine that is no FILE; the caller's, to topo_made_free. */
ORR_MUST_CHECK enum orr_status run_machine_topology(const struct run_machine_request *request, struct mem *mem,
                                                    struct topo_made *made, struct orr_error *err);

#endif
