/* SPDX-License-Identifier: Apache-2.0 */
/* The public calculators; model/calc.h has the arithmetic. */
#include "model/calc.h"

enum orr_status orr_calc_groups(const struct orr_calc_degrees *degrees, enum orr_calc_nesting nesting,
                                struct orr_calc_groups *groups, struct orr_error *err)
{
    return calc_groups(degrees, nesting, groups, err);
}

enum orr_status orr_calc_batch(const struct orr_calc_batch *given, struct orr_calc_batch *whole, struct orr_error *err)
{
    return calc_batch(given, whole, err);
}

enum orr_status orr_calc_pp_comm(const struct orr_calc_pp_comm *given, uint64_t *bytes, struct orr_error *err)
{
    return calc_pp_comm(given, bytes, err);
}
