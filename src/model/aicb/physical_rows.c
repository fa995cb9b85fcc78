/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a row can be is one fprintf; the rest is knowing what is None. */
#include "model/aicb/physical_rows.h"

#include <inttypes.h>

#include "io/json_stream.h"
#include "model/aicb/rows.h"

static const char *const group_names[PHYSICAL_GROUPS] = {"dp_group", "pp_group",    "tp_group",
                                                         "ep_group", "ep_dp_group", "all"};

struct number_text {
    char text[32];
};

static struct number_text number_or_none(int64_t value)
{
    struct number_text number = {"None"};
    if (value != PHYSICAL_UNKNOWN) {
        (void)snprintf(number.text, sizeof number.text, "%" PRId64, value);
    }
    return number;
}

int64_t physical_mul(struct physical *p, int64_t a, int64_t b)
{
    return aicb_mul(a, b, &p->overflow);
}

int64_t physical_sum(struct physical *p, int64_t a, int64_t b)
{
    return aicb_add(a, b, &p->overflow);
}

bool physical_good(const struct physical *p)
{
    return !p->overflow && !p->too_many && !p->no_memory;
}

/* False when the row is not to be printed. */
static bool aicb_physical_rows_count_row(struct physical *p)
{
    p->too_many = p->too_many || ++p->rows > PHYSICAL_ROWS_MAX;
    return p->stream != NULL && physical_good(p);
}

void physical_put(struct physical *p, struct physical_row row)
{
    char bytes[48];
    if (!aicb_physical_rows_count_row(p)) {
        return;
    }
    if (row.in_64ths) {
        (void)json_real_repr((double)row.bytes / 64, bytes); /* as Python prints a float */
    } else {
        (void)snprintf(bytes, sizeof bytes, "%" PRId64, row.bytes);
    }
    (void)fprintf(p->stream, "CommType.%s,CommGroup.%s,%s,%s,%s,%s,%s,%s,None,None,None,1\n", row.op,
                  group_names[row.group], number_or_none(row.ranks).text, bytes, row.stage,
                  number_or_none(row.dst).text, number_or_none(row.src).text,
                  row.additional != NULL ? row.additional : "");
}

/* Whether a row is left out because its group is one rank. They are counted too: a sweep on one rank has no others. */
static bool aicb_physical_rows_leave_out(struct physical *p, int64_t ranks)
{
    bool lone = p->o->fix.lone_groups && ranks == 1;
    p->too_many = p->too_many || (lone && ++p->left_out > PHYSICAL_ROWS_MAX);
    return lone;
}

void physical_collective(struct physical *p, const char *op, enum physical_group group, int64_t ranks, int64_t bytes,
                         const char *stage)
{
    if (aicb_physical_rows_leave_out(p, ranks)) {
        return;
    }
    physical_put(p, (struct physical_row){.op = op,
                                          .group = group,
                                          .ranks = ranks,
                                          .bytes = bytes,
                                          .stage = stage,
                                          .dst = PHYSICAL_UNKNOWN,
                                          .src = PHYSICAL_UNKNOWN});
}

void physical_broadcast(struct physical *p, enum physical_group group, int64_t ranks, int64_t bytes, const char *stage)
{
    if (aicb_physical_rows_leave_out(p, ranks)) {
        return;
    }
    physical_put(p, (struct physical_row){.op = "broadcast",
                                          .group = group,
                                          .ranks = ranks,
                                          .bytes = bytes,
                                          .stage = stage,
                                          .dst = PHYSICAL_UNKNOWN,
                                          .src = 0});
}

void physical_compute(struct physical *p, struct physical_product product, const char *stage, const char *name)
{
    char first[32] = "";
    if (!aicb_physical_rows_count_row(p)) {
        return;
    }
    if (product.a != 0) {
        (void)snprintf(first, sizeof first, "%" PRId64 " ", product.a);
    }
    (void)fprintf(p->stream,
                  "CommType.computation,None,None,((%s%" PRId64 " %" PRId64 ") (%" PRId64 " %" PRId64
                  ")),%s%s,None,None,,None,None,None,1\n",
                  first, product.b, product.c, product.d, product.e, stage, name);
}

void physical_epoch_end(struct physical *p)
{
    if (aicb_physical_rows_count_row(p)) {
        (void)fputs("CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n", p->stream);
    }
}
