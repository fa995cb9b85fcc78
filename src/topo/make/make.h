/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines by name: the table of all generators, what each of them takes, and the line grammar for machines that have
 * no name. Everything ends in a struct topo_made, which the caller owns.
 */
#ifndef ORR_TOPO_MAKE_MAKE_H
#define ORR_TOPO_MAKE_MAKE_H

#include "topo/make/made.h"

struct topo_preset {
    const char *name;
    const char *summary;
    const char *defaults; /* what holds where nothing is said, with its source */
    uint64_t takes;       /* bits of enum topo_setting, besides those that all take */
    enum orr_status (*make)(const struct topo_preset *self, const struct topo_settings *settings, struct notes *notes,
                            struct topo_made *made, struct mem *mem, struct orr_error *err);
    unsigned variant; /* the generator's own */
};

/* The presets in the order of the documentation; NULL past the last. */
const struct topo_preset *topo_preset_at(size_t index);
/* By its name, case aside; ORR_EINVAL with the nearest. */
ORR_MUST_CHECK enum orr_status topo_preset_find(const char *name, const struct topo_preset **preset,
                                                struct orr_error *err);
bool topo_preset_takes(const struct topo_preset *preset, enum topo_setting id);

/*
 * `what` is a preset's name, case aside, or a line of topo/make/grammar.h. ORR_EINVAL (unknown name, with the nearest;
 * a setting the machine does not take; sizes that contradict each other), ORR_ERANGE, ORR_ENOMEM. On success `made` is
 * the caller's, to topo_made_free; else it is empty.
 */
ORR_MUST_CHECK enum orr_status topo_make(const char *what, const struct topo_settings *settings, struct notes *notes,
                                         struct topo_made *made, struct mem *mem, struct orr_error *err);

#endif
