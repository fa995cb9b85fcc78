/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Setting options by name, and what follows from them. The checks are those AICB asserts, in its order (§2.1), then
 * those of Megatron-LM that AICB leaves out, which hold where we do not stand in for AICB.
 */
#include "model/aicb/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t aicb_mul(int64_t a, int64_t b, bool *overflow)
{
    int64_t product = 0;
    *overflow |= __builtin_mul_overflow(a, b, &product);
    return product;
}

int64_t aicb_add(int64_t a, int64_t b, bool *overflow)
{
    int64_t sum = 0;
    *overflow |= __builtin_add_overflow(a, b, &sum);
    return sum;
}

static void *aicb_options_value_of(struct aicb_options *options, const struct aicb_option *row)
{
    return (char *)options + row->offset;
}

static void store(struct aicb_options *options, const struct aicb_option *row, int64_t number, const char *text)
{
    void *place = aicb_options_value_of(options, row);
    switch (row->kind) {
    case AICB_FLAG:
        *(bool *)place = number != 0;
        break;
    case AICB_INT:
        *(int64_t *)place = number;
        break;
    case AICB_TEXT:
        *(const char **)place = text;
        break;
    case AICB_CHOICE: {
        unsigned index = (unsigned)number; /* enums are stored as unsigned int: no choice is negative */
        memcpy(place, &index, sizeof index);
        break;
    }
    }
}

_Static_assert(sizeof(enum aicb_frame) == sizeof(unsigned), "a choice is stored as its index");

void aicb_options_init(struct aicb_options *options, enum aicb_generator generator, bool compat)
{
    *options = (struct aicb_options){.compat = compat, .fix = aicb_fixes_all(!compat)};
    const struct aicb_option *row = NULL;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        bool shared = i > 0 && aicb_option_row(i - 1)->offset == row->offset; /* the other generator's default */
        if ((row->taken_by & (uint32_t)generator) != 0 || !shared) {
            store(options, row, row->fallback, row->text);
        }
    }
}

static bool same_letter(char a, char b)
{
    return a == b || (a == '-' && b == '_') || (a == '_' && b == '-');
}

static bool aicb_options_begins(const char *name, const char *word, size_t length)
{
    size_t i = 0;
    while (i < length && name[i] != '\0' && same_letter(name[i], word[i])) {
        i++;
    }
    return i == length;
}

/* How many names begin so; `*found` is the last of them. */
static unsigned aicb_options_find_prefix(enum aicb_generator generator, const char *name, size_t length, bool ours,
                                         const struct aicb_option **found)
{
    const struct aicb_option *row = NULL;
    unsigned count = 0;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        if ((row->taken_by & (uint32_t)generator) != 0 && row->ours == ours &&
            aicb_options_begins(row->name, name, length)) {
            *found = row;
            count++;
        }
    }
    return count;
}

const struct aicb_option *aicb_option_find(enum aicb_generator generator, const char *name, size_t length, bool prefix)
{
    const struct aicb_option *row = NULL;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        if ((row->taken_by & (uint32_t)generator) != 0 && strlen(row->name) == length &&
            aicb_options_begins(row->name, name, length)) {
            return row;
        }
    }
    if (!prefix || length == 0) {
        return NULL;
    }
    unsigned count = aicb_options_find_prefix(generator, name, length, false, &row);
    count = count == 0 ? aicb_options_find_prefix(generator, name, length, true, &row) : count;
    return count == 1 ? row : NULL;
}

static enum orr_status aicb_options_refuse_name(enum aicb_generator generator, const char *name, struct orr_error *err)
{
    const char *known[AICB_OPTIONS_MAX + 1];
    size_t count = 0;
    const struct aicb_option *row = NULL;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        if ((row->taken_by & (uint32_t)generator) != 0) {
            known[count++] = row->name;
        }
    }
    known[count] = NULL;
    const char *nearest = error_nearest(name, known);
    return nearest != NULL
               ? error_set(err, ORR_EINVAL, "unknown parameter '%.60s'; did you mean parameter '%s'?", name, nearest)
               : error_set(err, ORR_EINVAL, "unknown parameter '%.60s': neither AICB's nor ours", name);
}

static enum orr_status aicb_options_read_number(const struct aicb_option *row, const char *text, int64_t *number,
                                                struct orr_error *err)
{
    char *end = NULL;
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    errno = 0;
    long long value = *digits >= '0' && *digits <= '9' ? strtoll(text, &end, 10) : 0;
    if (end == NULL || *end != '\0') {
        return error_set(err, ORR_EINVAL, "parameter '%s': \"%.60s\" is not a whole number", row->name, text);
    }
    if (errno == ERANGE || value < row->least || value > row->most) {
        return error_set(err, ORR_ERANGE, "parameter '%s': %.60s is not between %" PRId64 " and %" PRId64, row->name,
                         text, row->least, row->most);
    }
    *number = value;
    return ORR_OK;
}

static enum orr_status read_choice(const struct aicb_option *row, const char *text, int64_t *number,
                                   struct orr_error *err)
{
    char list[200] = "";
    size_t used = 0;
    for (int64_t i = 0; row->choices[i] != NULL; i++) {
        if (strcmp(row->choices[i], text) == 0) {
            *number = i;
            return ORR_OK;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", row->choices[i]);
    }
    struct error_proposal near = error_propose(text, row->choices);
    return error_set(err, ORR_EINVAL, "parameter '%s': \"%.60s\" is not one of %s%s", row->name, text, list, near.text);
}

enum orr_status aicb_options_set(struct aicb_options *options, enum aicb_generator generator, const char *name,
                                 const char *value, struct orr_error *err)
{
    const struct aicb_option *row = aicb_option_find(generator, name, strlen(name), false);
    if (row == NULL) {
        return aicb_options_refuse_name(generator, name, err);
    }
    if ((row->kind == AICB_FLAG) != (value == NULL)) {
        return error_set(err, ORR_EINVAL, "parameter '%s' %s", row->name,
                         value == NULL ? "needs a value" : "is a flag and takes no value");
    }
    if (options->compat && row->ours && row->offset != offsetof(struct aicb_options, model)) {
        return error_set(err, ORR_EINVAL, "parameter '%s' is not an option of AICB; leave out parameter 'compat' aicb",
                         row->name);
    }
    int64_t number = 1;
    enum orr_status status = ORR_OK;
    if (row->kind == AICB_INT) {
        status = aicb_options_read_number(row, value, &number, err);
    } else if (row->kind == AICB_CHOICE) {
        status = read_choice(row, value, &number, err);
    }
    if (status == ORR_OK) {
        store(options, row, number, value);
        for (unsigned i = 0; aicb_option_row(i) != NULL; i++) {
            options->given[i] |= aicb_option_row(i) == row;
        }
    }
    return status;
}

bool aicb_options_given(const struct aicb_options *options, size_t offset)
{
    const struct aicb_option *row = NULL;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        if (row->offset == offset && options->given[i]) {
            return true;
        }
    }
    return false;
}

enum orr_status aicb_options_note_unused(const struct aicb_options *options, enum aicb_generator generator,
                                         struct notes *notes, struct orr_error *err)
{
    char list[800] = "";
    size_t used = 0;
    const struct aicb_option *row = NULL;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        if (options->given[i] && (row->affects & (uint32_t)generator) == 0 && used < sizeof list - 60) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", used == 0 ? "" : ", ", row->name);
        }
    }
    return used == 0 ? ORR_OK : notes_add(notes, err, "no effect on this file: %s", list);
}

/* ---- what follows (§2.1) -------------------------------------------------------------------------------------- */

static enum orr_status check_experts(const struct aicb_options *o, struct orr_error *err)
{
    if (o->ep > 1 && o->num_experts % o->ep != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'num_experts' %" PRId64
                         " is not a multiple of parameter 'expert_model_parallel_size' %" PRId64,
                         o->num_experts, o->ep);
    }
    if (o->ep > 1 && strcmp(o->dtype, "float16") == 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'expert_model_parallel_size' %" PRId64 ": not with parameter 'dtype' float16",
                         o->ep);
    }
    if (o->moe_grouped_gemm && strcmp(o->dtype, "bfloat16") != 0) {
        return error_set(err, ORR_EINVAL, "parameter 'moe_grouped_gemm' needs parameter 'dtype' bfloat16, not %.40s",
                         o->dtype);
    }
    return ORR_OK;
}

static bool has_experts(const struct aicb_options *o)
{
    return o->moe_enable || o->frame == AICB_FRAME_DEEPSEEK;
}

/* Megatron-LM's rules that AICB does not check. */
static enum orr_status check_shape(const struct aicb_options *o, const struct aicb_shape *s, struct orr_error *err)
{
    if (o->frame == AICB_FRAME_MEGATRON && o->kv_channels == 0 && o->hidden_size % s->heads != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'hidden_size' %" PRId64
                         " is not a multiple of parameter 'num_attention_heads' %" PRId64 "%s",
                         o->hidden_size, s->heads, o->num_attention_heads == 0 ? ", by default num_layers" : "");
    }
    if (s->heads % s->kv_heads != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'num_attention_heads' %" PRId64
                         " is not a multiple of parameter 'num_query_groups' %" PRId64,
                         s->heads, s->kv_heads);
    }
    if (o->cp > 1 && o->seq_length % (2 * o->cp) != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'seq_length' %" PRId64
                         " is not a multiple of twice parameter 'context-parallel-size' %" PRId64
                         ": each rank takes a piece from both ends",
                         o->seq_length, o->cp);
    }
    if (has_experts(o) && (s->dp * o->cp) % o->ep != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'expert_model_parallel_size' %" PRId64 " does not divide the %" PRId64
                         " ranks of data parallelism (world_size / TP / PP)",
                         o->ep, s->dp * o->cp);
    }
    if (o->num_layers < o->pp) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'num_layers' %" PRId64 " are fewer than the %" PRId64 " pipeline stages",
                         o->num_layers, o->pp);
    }
    return ORR_OK;
}

static enum orr_status derive_batches(const struct aicb_options *o, struct aicb_shape *s, struct notes *notes,
                                      struct orr_error *err)
{
    bool overflow = false;
    int64_t at_once = aicb_mul(o->micro_batch, s->dp, &overflow);
    s->tokens = aicb_mul(o->micro_batch, o->seq_length, &overflow) / (o->fix.context_parallel ? o->cp : 1);
    if (overflow) {
        return error_set(
            err, ORR_ERANGE,
            "parameter 'micro_batch', parameter 'seq_length' and parameter 'world_size' are too large together");
    }
    s->ga = o->global_batch / at_once;
    if (o->fix.whole_batches && o->global_batch % at_once != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'global_batch' %" PRId64 " is not a multiple of micro_batch x DP = %" PRId64
                         " x %" PRId64 " (DP = world_size / TP / PP / CP)",
                         o->global_batch, o->micro_batch, s->dp);
    }
    if (s->ga < 1) {
        return notes_add(notes, err,
                         "parameter 'global_batch' %" PRId64 " is less than micro_batch x DP = %" PRId64
                         ": no micro-batch, and no layers in the file",
                         o->global_batch, at_once);
    }
    return ORR_OK;
}

static void derive_model(const struct aicb_options *o, struct aicb_shape *s)
{
    int64_t multiple = o->make_vocab_size_divisible_by * o->tp; /* both below 2^31, and so is the vocabulary */
    s->vocab = (o->vocab_size + multiple - 1) / multiple * multiple;
    int64_t given = o->ffn_hidden_size;
    if (!o->fix.expert_width && has_experts(o) && o->moe_ffn_hidden_size > 0 && !AICB_GIVEN(o, ffn_hidden_size)) {
        given = o->moe_ffn_hidden_size; /* AICB knows one width, and means an expert's by it */
    }
    /* Two thirds of 4h in steps of 64; the quotient never comes so near to the next step that doubles would round. */
    s->ffn = given > 0 ? given : o->swiglu ? o->hidden_size / 24 * 64 : 4 * o->hidden_size;
    s->moe_ffn = o->moe_ffn_hidden_size > 0 && o->fix.expert_width ? o->moe_ffn_hidden_size : s->ffn;
    s->heads = o->num_attention_heads > 0 ? o->num_attention_heads : o->num_layers;
    s->head_dim = o->kv_channels > 0 && o->fix.attention_shape ? o->kv_channels : o->hidden_size / s->heads;
    s->kv_heads = o->num_query_groups > 0 && o->fix.attention_shape ? o->num_query_groups : s->heads;
    s->layers = (o->num_layers + (o->fix.stage_layers ? o->pp - 1 : 0)) / o->pp;
}

enum orr_status aicb_options_derive(const struct aicb_options *o, struct aicb_shape *shape, struct notes *notes,
                                    struct orr_error *err)
{
    bool overflow = false;
    int64_t cp = o->fix.context_parallel ? o->cp : 1;
    int64_t model_ranks = aicb_mul(aicb_mul(o->tp, o->pp, &overflow), cp, &overflow);
    if (overflow || o->world_size % model_ranks != 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'world_size' %" PRId64 " is not a multiple of TP x PP x CP = %" PRId64 " x %" PRId64
                         " x %" PRId64,
                         o->world_size, o->tp, o->pp, cp);
    }
    if (o->moe_enable && !o->enable_sequence_parallel && (o->compat || o->tp > 1)) {
        return error_set(err, ORR_EINVAL, "parameter 'moe_enable' needs parameter 'enable_sequence_parallel'%s",
                         o->compat ? "" : " where tensor parallelism is above 1");
    }
    if (!o->compat && o->frame == AICB_FRAME_DEEPSEEK && !o->enable_sequence_parallel && o->tp > 1) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'frame' DeepSeek has experts and needs parameter 'enable_sequence_parallel' where "
                         "tensor parallelism "
                         "is above 1");
    }
    struct aicb_shape s = {.dp = o->world_size / model_ranks};
    enum orr_status status = check_experts(o, err);
    if (status == ORR_OK) {
        derive_model(o, &s);
        status = o->compat ? ORR_OK : check_shape(o, &s, err);
    }
    if (status == ORR_OK) {
        status = derive_batches(o, &s, notes, err);
    }
    if (status == ORR_OK) {
        *shape = s;
    }
    return status;
}
