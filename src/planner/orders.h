/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which orders the ranks of a plan can be numbered so that something of it changes: orders that lay every group in
 * servers as an earlier one does take as long, and are left out. Knows no time.
 */
#ifndef ORR_PLANNER_ORDERS_H
#define ORR_PLANNER_ORDERS_H

#include "orrery/train.h"

enum { ORDERS_MOST = 120 };

/* Of a settled plan in servers of `server` ranks; how many. The usual order is the first. */
uint32_t orders_list(const struct orr_train_plan *plan, uint32_t server,
                     uint8_t orders[ORDERS_MOST][ORR_TRAIN_AXIS_COUNT]);

#endif
