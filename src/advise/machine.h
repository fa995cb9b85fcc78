/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a machine can be changed by an option, spelled as --set takes it: algorithms of each kind of collective,
 * chunks, the order of dimensions, rates and latencies. Shared by advice, which tries a few, and by tuning, which tries
 * all. Texts are the document's.
 */
#ifndef ORR_ADVISE_MACHINE_H
#define ORR_ADVISE_MACHINE_H

#include "advise/advise.h"
#include "sim/config.h"

struct sim_result;

/* "all-reduce-implementation" and so on, by enum sim_native; the names without the ending. */
extern const char *const advise_native_keys[SIM_NATIVE_COUNT];
extern const char *const advise_native_names[SIM_NATIVE_COUNT];

/* Which kinds a run had, as bits 1 << enum sim_native; kinds with traces of their own are left out. */
unsigned advise_kinds_of(const struct sim_result *result);

/* A list of algorithms, one a dimension; one alone for all of them. */
struct advise_way {
    const char *words[TOPO_MAX_DIMS];
    uint32_t count; /* 0: none is named */
};
/* "[ring, direct]", "ring". */
const char *advise_words_text(struct advise_document *document, const char *const *words, uint32_t count);
/* The one in use. */
struct advise_way advise_way_now(struct advise_document *document, const struct sim_config *config,
                                 enum sim_native native);

/* The others there are. */
struct advise_ways {
    struct advise_way *list;
    uint32_t count;
};
/* All combinations where those are `most` at most; else those that differ from the present one in one dimension, or
 * are the same in all. */
struct advise_ways advise_ways_of(struct advise_document *document, const struct sim_config *config,
                                  enum sim_native native, uint32_t most);

/* Orders of the dimensions: order[i] is the present one that becomes dimension i. The first is the present one. */
enum { ADVISE_ORDERS = 24 };
uint32_t advise_orders_of(const struct sim_config *config, uint8_t orders[ADVISE_ORDERS][TOPO_MAX_DIMS]);
/* The keys of the network file in that order, and with them the lists of algorithms: those of `ways` by enum
 * sim_native, where they are not NULL, else those in use. */
void advise_set_order(struct advise_document *document, const struct sim_config *config, const uint8_t *order,
                      const struct advise_way *const ways[SIM_NATIVE_COUNT], struct advise_change *change);
/* "1, 0, 2" */
const char *advise_order_text(struct advise_document *document, const struct sim_config *config, const uint8_t *order);

/* The whole list of a key of the network file with one dimension's value (`dim` UINT32_MAX: all) times `factor`. */
const char *advise_rates_text(struct advise_document *document, const struct topo_dims *dims, uint32_t dim,
                              double factor);
const char *advise_latencies_text(struct advise_document *document, const struct topo_dims *dims, uint32_t dim,
                                  double factor);

#endif
