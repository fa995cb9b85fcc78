/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices as their makers describe them (presets/devices): peaks, memory, caches, and whose measurements may
 * stand in for theirs. What was measured on them is in compute/op_set.h; how long anything takes is not known here.
 */
#ifndef ORR_COMPUTE_DEVICE_H
#define ORR_COMPUTE_DEVICE_H

#include "base/error.h"

enum device_peak { DEVICE_BF16, DEVICE_FP16, DEVICE_FP8, DEVICE_FP4, DEVICE_TF32, DEVICE_FP32, DEVICE_PEAKS };

struct device {
    const char *name;
    const char *synonyms;       /* a blank between two */
    double peaks[DEVICE_PEAKS]; /* dense TFLOPS; 0: it has none */
    double memory_rate;         /* GB/s */
    double memory;              /* GB */
    const char *architecture;
    double units;          /* SMs, CUs or cores, each with a matrix unit */
    double l2;             /* MB, the last cache that all units share */
    double power;          /* W */
    double sustained;      /* of its peak, by the best product that was published; 0: as DEVICE_SUSTAINED */
    double matrix;         /* side of the array that a unit multiplies with, where that is large (TPU); else 0 */
    const char *relatives; /* names, nearest first */
    const char *source;
};

#define DEVICE_SUSTAINED 0.8 /* what the devices that were measured come to */

extern const struct device device_rows[];
extern const uint32_t device_count;
extern const char *const device_names[]; /* in the same order; NULL behind the last */

/* The index of a name or synonym, in any case of letters; or device_count. */
uint32_t device_find(const char *name);
/* The same, or ORR_EINVAL that names the nearest. */
ORR_MUST_CHECK enum orr_status device_named(const char *name, uint32_t *device, struct orr_error *err);

/* TFLOPS of a type of number; where it has no unit for it, those of the next wider type that it has one for. */
double device_peak_of(const struct device *device, enum device_peak peak);

/* Whether both are made of the same units ("blackwell" and "blackwell-ultra" are). */
bool device_is_kin(const struct device *a, const struct device *b);

#endif
