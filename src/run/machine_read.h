/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a machine's name (run/machine_name.h) to what it is: ranks, dimensions, the rate and latency of each, its wires.
 * Reads the file that a name may be, and makes the wires that a name may mean; writes nothing. Texts live in the
 * caller's arena.
 */
#ifndef ORR_RUN_MACHINE_READ_H
#define ORR_RUN_MACHINE_READ_H

#include "base/arena.h"
#include "orrery.h"
#include "run/machine_name.h"
#include "topo/make/made.h"

/* Rates or times, one for all dimensions or one for each, dimension 0 first. */
struct run_quantities {
    uint32_t count;
    uint64_t value[TOPO_MAX_DIMS];   /* bit/s or ns */
    const char *text[TOPO_MAX_DIMS]; /* with its unit: "25Gbps", "0.5us" */
    const char *list;                /* all of them, as in "25Gbps,65Gbps" */
};

/* "25", "25Gbps,25Gbps,65Gbps"; bare numbers are Gbps. `option` goes before messages. */
ORR_MUST_CHECK enum orr_status run_rates_read(const char *option, const char *text, struct arena *arena,
                                              struct run_quantities *rates, struct orr_error *err);
/* "1", "500ns"; bare numbers are us. */
ORR_MUST_CHECK enum orr_status run_times_read(const char *option, const char *text, struct arena *arena,
                                              struct run_quantities *times, struct orr_error *err);

/*
 * The machine that `text` names and all that does not depend on the job: rates (those that the options give, else the
 * machine's own, else 25 Gbps and 1 us), and of a line or a FILE ranks and dimensions. A FILE is what its content says:
 * a network.yml, a physical topology (one dimension of all hosts; `rates` are its different rates, without texts), or a
 * logical topology, which becomes rings in its dimensions. ORR_EINVAL where bandwidth or latency is given for a machine
 * that says them itself, or the file is of another kind.
 */
ORR_MUST_CHECK enum orr_status run_machine_read(const char *text, const struct orr_run_options *options,
                                                struct arena *arena, struct run_machine *machine,
                                                struct run_quantities *rates, struct run_quantities *times,
                                                struct orr_error *err);
/* And the rest, for a job of `ranks`: what leaves its size open is laid out. */
ORR_MUST_CHECK enum orr_status run_machine_lay_out(struct run_machine *machine, uint32_t ranks, struct arena *arena,
                                                   struct run_quantities *rates, struct run_quantities *times,
                                                   struct orr_error *err);

/* What a line says of servers and their NICs. */
struct run_line_network {
    uint64_t gpus, servers; /* GPUs in a server */
    double nic_gbytes;      /* GB/s of a NIC: its own rate, or what the narrowest level leaves of it; 0: the server's */
};
ORR_MUST_CHECK enum orr_status run_line_network_read(const char *line, struct run_line_network *network,
                                                     struct orr_error *err);

/* The name or line that topo/make makes a MADE of. */
const char *run_machine_made_of(const struct run_machine *machine);
/* Ranks and dimensions of a MADE, servers settled, and the rates and latencies of each dimension: of a GPU's links
 * inside, and of its share of the NICs. */
ORR_MUST_CHECK enum orr_status run_machine_made_dims(struct run_machine *machine, struct arena *arena,
                                                     struct run_quantities *rates, struct run_quantities *times,
                                                     struct orr_error *err);
/* What a FILE is by its content: sets is_network. ORR_EINVAL where it is of another kind; the kind of a logical
 * topology is left for run_machine_read. One that cannot be read is what its name says. */
ORR_MUST_CHECK enum orr_status run_machine_look(struct run_machine *machine, struct orr_error *err);

/* The wires that topo/make makes of `what`, as the machine's own settings say beside those that are taken already. */
ORR_MUST_CHECK enum orr_status run_machine_make(const char *what, struct topo_settings *settings,
                                                const struct run_machine *machine, const struct orr_notices *notices,
                                                struct mem *mem, struct topo_made *made, struct orr_error *err);
/* The different rates of a graph's links, without texts. */
void run_rates_of(const struct topo_graph *graph, struct run_quantities *rates);

/* What the configuration that is made for wires multiplies the room for packets on the wire by. */
enum { RUN_HEADROOM_FACTOR = 3 };

#endif
