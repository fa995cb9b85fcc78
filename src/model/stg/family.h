/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Families of sheets: which modules make a block and the ends, under which names, and which port feeds which. Constant
 * tables; model.c follows them. The sheets of a family come from a folder or are compiled in (builtin.c).
 */
#ifndef ORR_MODEL_STG_FAMILY_H
#define ORR_MODEL_STG_FAMILY_H

#include "model/stg/model.h"

enum { STG_MODULES_MAX = 9, STG_JOINS_MAX = 24, STG_SUMS_MAX = 3, STG_RULES_MAX = 4 };

/* Symbols replaced in a module; `to` is an expression. A rule with a NULL `to` ends the list. */
struct stg_rule {
    enum stg_symbol from;
    const char *to;
};

struct stg_module {
    const char *prefix; /* of its tensors' names; NULL ends the list */
    const char *sheet;
    struct stg_rule rules[STG_RULES_MAX];
    const char *folder; /* of a public sheet, under the sheets' root; NULL: the family's */
};

struct stg_join {
    const char *from, *to; /* NULL ends the list */
};

/* A placeholder that becomes the sum of two gradients. */
struct stg_gather {
    const char *target, *first, *second; /* NULL ends the list */
};

/* The experts of a mixture: as many copies as a rank holds, placed behind the module that routes to them. */
struct stg_experts {
    const char *behind; /* prefix of that module; NULL: no experts */
    const char *prefix; /* copy u is PREFIXu. */
    struct stg_module modules[3];
    struct stg_join joins[6];
    struct stg_join scatter[3]; /* from a port of the router to one of each copy */
    struct stg_join collect[3]; /* from one of each copy to a port of the router, by a chain of additions */
    const char *last_amount;    /* operations an element takes in the last addition; the others take none */
};

struct stg_family {
    const char *folder; /* under the sheets' root; NULL: built in */
    const char *layer_prefix;
    struct stg_rule rules[STG_RULES_MAX]; /* for all modules */
    struct stg_module block[STG_MODULES_MAX];
    struct stg_join block_joins[STG_JOINS_MAX];
    struct stg_gather block_sums[STG_SUMS_MAX];
    struct stg_experts experts;
    struct stg_module first[2], last[4];
    struct stg_join last_joins[5];
    const char *block_in, *block_out, *block_dout, *block_din;
    const char *first_out, *first_dout, *last_in, *last_din;
};

const struct stg_family *stg_family_find(const struct stg_config *config);

/* The names of a family's sheets, each once, NULL behind the last. */
enum { STG_SHEET_NAMES_MAX = 24 };
void stg_family_sheets(const struct stg_family *family, const char *names[STG_SHEET_NAMES_MAX]);

/* Loads a sheet of the program's own; ORR_EINVAL when there is none of this name. */
ORR_MUST_CHECK enum orr_status stg_sheet_builtin(const char *name, struct stg_graph *sheet, struct orr_error *err);

#endif
