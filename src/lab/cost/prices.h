/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The price list that the user edits: a YAML file with one entry for each thing that is bought, what it is counted by,
 * and what owning it costs over time. Amounts of money are whole millionths of the currency, read from the decimal
 * digits, so that a bill adds up to the last digit; rates and shares are ordinary numbers.
 *
 * Knows no machine: lab/cost/cost.h applies the list to one. There is an example list with which everything works and
 * nothing is right.
 */
#ifndef ORR_LAB_COST_PRICES_H
#define ORR_LAB_COST_PRICES_H

#include "base/notes.h"

/* name, word in the file, what is counted */
#define COST_EACHES(X)                                                                                                 \
    X(GPU, "gpu", "hosts of the topology")                                                                             \
    X(SERVER, "server", "GPUs divided by gpus-per-server, rounded up")                                                 \
    X(NIC, "nic", "servers times nics-per-server")                                                                     \
    X(NVSWITCH, "nvswitch", "switches inside servers")                                                                 \
    X(SWITCH, "switch", "other switches, unless leaf or spine has a price for them")                                   \
    X(LEAF, "leaf", "switches that GPUs are on")                                                                       \
    X(SPINE, "spine", "switches without GPUs")                                                                         \
    X(PORT, "port", "ports of leaves and spines in use")                                                               \
    X(LINK, "link", "cables: links but those of a GPU to its own switch or to one in its server")                      \
    X(MACHINE, "machine", "one")

enum cost_each {
#define COST_X(name, word, about) COST_##name,
    COST_EACHES(COST_X)
#undef COST_X
        COST_EACH_COUNT
};

struct cost_item {
    const char *name;
    enum cost_each each;
    uint64_t price;    /* millionths of the currency, for `pack` of them */
    uint64_t pack;     /* at least 1 */
    double watts;      /* of one */
    uint64_t ports;    /* switches: those with at most so many in use; 0: any */
    uint64_t rate_bps; /* links: those of this rate; 0: any */
};

struct cost_prices {
    const char *currency;
    struct cost_item *items;
    uint32_t item_count;
    uint64_t gpus_per_server, nics_per_server;
    double lifetime_years; /* over which what is bought is paid; 0: the list does not say */
    double utilisation;    /* share of that time in which the machine works */
    double electricity;    /* currency for a kilowatt hour */
    double pue;            /* power that the building draws for each watt of the machine */
};

/* The example list, with comments: the template that `orrery cost` prints. */
extern const char cost_prices_example[];

/* `name` is the file's, for messages. Everything lives in `arena`. ORR_EINVAL or ORR_ERANGE with the line. Notes: keys
 * that are not known. */
ORR_MUST_CHECK enum orr_status cost_prices_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                                 struct notes *notes, struct cost_prices *prices,
                                                 struct orr_error *err);

/* The amount in decimal digits with at most six behind the point, "0.027"; false when it is none or does not fit. */
bool cost_money_parse(const char *text, uint64_t *millionths);

#endif
