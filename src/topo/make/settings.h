/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a generator was asked for: one text a setting, as the user wrote it (ORR_TOPO_SETTINGS in orrery.h), read when a
 * generator needs it. The text is kept beside the value because the files we write repeat it: "0.0005ms" stays
 * "0.0005ms". Borrows all texts; knows no particular generator.
 */
#ifndef ORR_TOPO_MAKE_SETTINGS_H
#define ORR_TOPO_MAKE_SETTINGS_H

#include "base/error.h"
#include "orrery/machine.h"

enum topo_setting {
#define TOPO_X(id, name, arg, text) TOPO_SET_##id,
    ORR_TOPO_SETTINGS(TOPO_X)
#undef TOPO_X
        TOPO_SET_COUNT
};

struct topo_settings {
    const char *what;                  /* the machine asked for, for messages */
    const char *value[TOPO_SET_COUNT]; /* NULL where not given; "" for a setting without a value */
};

/* A rate in bits a second or a time in nanoseconds, and how a topology file spells it. */
struct topo_quantity {
    uint64_t value;
    char text[32];
};

/* "parameter 'hosts'" of TOPO_SET_HOSTS. */
const char *topo_setting_name(enum topo_setting id);

/* The setting called `name`, without dashes; ORR_EINVAL with the nearest name. `value` is borrowed. */
ORR_MUST_CHECK enum orr_status topo_settings_take(struct topo_settings *settings, const char *name, const char *value,
                                                  struct orr_error *err);

static inline bool topo_settings_has(const struct topo_settings *settings, enum topo_setting id)
{
    return settings->value[id] != NULL;
}

/* Values, or `otherwise` where the setting was not given. */
ORR_MUST_CHECK enum orr_status topo_settings_count(const struct topo_settings *settings, enum topo_setting id,
                                                   uint64_t otherwise, uint64_t least, uint64_t most, uint64_t *value,
                                                   struct orr_error *err);
/* Of a list "400Gbps,200Gbps" the item at `index`, or the last one where there are fewer. A rate is above 0. */
ORR_MUST_CHECK enum orr_status topo_settings_rate(const struct topo_settings *settings, enum topo_setting id,
                                                  unsigned index, const char *otherwise, struct topo_quantity *rate,
                                                  struct orr_error *err);
ORR_MUST_CHECK enum orr_status topo_settings_time(const struct topo_settings *settings, enum topo_setting id,
                                                  unsigned index, const char *otherwise, struct topo_quantity *time,
                                                  struct orr_error *err);
/* Loss: a share of packets, 0 to 1; the value itself is only checked. */
ORR_MUST_CHECK enum orr_status topo_settings_loss(const struct topo_settings *settings, double *loss, const char **text,
                                                  struct orr_error *err);
/* "3:1" or "3": what goes down over what goes up. */
ORR_MUST_CHECK enum orr_status topo_settings_ratio(const struct topo_settings *settings, enum topo_setting id,
                                                   uint64_t *down, uint64_t *up, struct orr_error *err);

/* Quantities that no user wrote: 400000000000 is "400Gbps", 1500 is "1500ns". */
struct topo_quantity topo_rate(uint64_t bps);
struct topo_quantity topo_time(uint64_t ns);
/* One that a user wrote; `what` begins the message of an error. */
ORR_MUST_CHECK enum orr_status topo_rate_read(const char *what, const char *text, struct topo_quantity *rate,
                                              struct orr_error *err);
ORR_MUST_CHECK enum orr_status topo_time_read(const char *what, const char *text, struct topo_quantity *time,
                                              struct orr_error *err);

#endif
