/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a link's bandwidth a collective reaches, by size and number of servers: the three tables that SimAI ships
 * (nic_ratio.csv, nvlink_ratio.csv, ata_ratio.csv; spec simai §9 step 4). A table's first column is bytes, ascending;
 * the others are servers 1, 2, 4 … 128 and four columns of groups that share a server's NICs. Empty cells read as 1.
 *
 * The tables are public data that we do not ship: without them every ratio is 1, which the caller says once.
 */
#ifndef ORR_MODEL_SIMAI_RATIO_H
#define ORR_MODEL_SIMAI_RATIO_H

#include "base/mem.h"

enum simai_ratio { SIMAI_RATIO_NIC, SIMAI_RATIO_NVLINK, SIMAI_RATIO_ALLTOALL, SIMAI_RATIO_TABLES };
enum { SIMAI_RATIO_COLUMNS = 13, SIMAI_RATIO_MULTI = 9 };

/* The files' names, in the order of the enum. */
extern const char *const simai_ratio_names[SIMAI_RATIO_TABLES];

struct simai_ratio_row {
    double cells[SIMAI_RATIO_COLUMNS]; /* 0: bytes */
};

struct simai_ratio_table {
    struct simai_ratio_row *rows;
    uint32_t count, capacity;
};

struct simai_ratios {
    struct mem *mem;
    struct simai_ratio_table tables[SIMAI_RATIO_TABLES];
};

/* Reads the three files of `folder`. Fails with ORR_EIO, ORR_EINVAL, ORR_ERANGE or ORR_ENOMEM; nothing is held then.
 * An all-zero structure is one without tables. */
ORR_MUST_CHECK enum orr_status simai_ratios_read(const char *folder, struct mem *mem, struct simai_ratios *ratios,
                                                 struct orr_error *err);
/* One of them. */
ORR_MUST_CHECK enum orr_status simai_ratio_read(const char *path, struct mem *mem, struct simai_ratio_table *table,
                                                struct orr_error *err);
void simai_ratios_free(struct simai_ratios *ratios);

/* The largest size a table knows; UINT64_MAX without one. */
double simai_ratio_limit(const struct simai_ratio_table *table);

/* Linear between sizes, the first row's below them and the last one's above, in proportion to the last row; 1 without a
 * table and for 0 bytes. `column` is 1 to SIMAI_RATIO_COLUMNS - 1. */
double simai_ratio_value(const struct simai_ratio_table *table, double bytes, unsigned column);

/* The column for a number of servers: that of the smallest listed number that is not less. */
unsigned simai_ratio_column(int64_t servers);

#endif
