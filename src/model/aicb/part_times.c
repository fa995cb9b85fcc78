/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by their names, which are AICB's (spec simai §2.2). */
#include "model/aicb/part_times.h"

#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    enum aicb_part part;
} rows[] = {
    {"embedding_layer", AICB_PART_EMBEDDING},
    {"attention_column", AICB_PART_QKV},
    {"attention_linear_q_lora", AICB_PART_Q_DOWN},
    {"attention_q_column", AICB_PART_Q_UP},
    {"attention_linear_kv_lora", AICB_PART_KV_DOWN},
    {"attention_kv_column", AICB_PART_KV_UP},
    {"attention_row", AICB_PART_ATTENTION_OUT},
    {"attention_o_row", AICB_PART_ATTENTION_OUT},
    {"attention_layer", AICB_PART_ATTENTION},
    {"attention_layer_mla", AICB_PART_ATTENTION},
    {"mlp_column", AICB_PART_MLP_IN},
    {"mlp_row", AICB_PART_MLP_OUT},
    {"mlp_layer", AICB_PART_MLP},
    {"mlp_moelayer", AICB_PART_EXPERTS},
    {"final_column", AICB_PART_FINAL},
    {"cross_entropy1", AICB_PART_LOSS},
    {"grad_param_compute", AICB_PART_UPDATE},
};

static enum aicb_part behind_experts(enum aicb_part part)
{
    switch (part) {
    case AICB_PART_MLP_IN:
        return AICB_PART_SHARED_IN;
    case AICB_PART_MLP:
        return AICB_PART_SHARED;
    default:
        return part;
    }
}

enum aicb_part aicb_part_of(const char *name, size_t length, enum aicb_part before)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) {
            enum aicb_part part = rows[i].part;
            bool shared = part == AICB_PART_MLP_OUT && before == AICB_PART_SHARED_IN;
            return shared ? AICB_PART_SHARED_OUT : before == AICB_PART_EXPERTS ? behind_experts(part) : part;
        }
    }
    return AICB_PART_NONE;
}

static void sum_to(struct aicb_part_times *times, enum aicb_part first, enum aicb_part last, enum aicb_part into)
{
    struct aicb_part_time sum = {0};
    for (enum aicb_part part = first; part <= last; part++) {
        sum.forward += times->of[part].forward;
        sum.input_gradient += times->of[part].input_gradient;
        sum.weight_gradient += times->of[part].weight_gradient;
    }
    times->of[into] = sum;
}

void aicb_part_times_sum(struct aicb_part_times *times)
{
    sum_to(times, AICB_PART_QKV, AICB_PART_ATTENTION_OUT, AICB_PART_ATTENTION);
    sum_to(times, AICB_PART_MLP_IN, AICB_PART_MLP_OUT, AICB_PART_MLP);
    sum_to(times, AICB_PART_SHARED_IN, AICB_PART_SHARED_OUT, AICB_PART_SHARED);
}
