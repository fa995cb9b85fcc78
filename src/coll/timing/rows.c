/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data, and how it is found by names people use: a GPU's name in nccl-tests logs ("NVIDIA H100 80GB HBM3"), in
 * tables ("h100_sxm") and ours ("h100") are one row. The header is made from presets/collectives/ by
 * tools/collective-tables and included here only.
 */
#include "coll/timing/timing.h"

#include <string.h>

#include "collective_tables.h"

enum { WORD_MOST = 64 };

/* Lower case, every run of other characters than letters and digits one '-', the maker's name left out. */
static void plain_word(const char *text, char word[WORD_MOST])
{
    static const char *const makers[] = {"nvidia-", "amd-", "instinct-", "tesla-", "geforce-"};
    size_t length = 0;
    for (; *text != '\0' && length + 1 < WORD_MOST; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 'A' && c <= 'Z') {
            word[length++] = (char)(c - 'A' + 'a');
        } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            word[length++] = (char)c;
        } else if (length > 0 && word[length - 1] != '-') {
            word[length++] = '-';
        }
    }
    while (length > 0 && word[length - 1] == '-') {
        length--;
    }
    word[length] = '\0';
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        size_t cut = strlen(makers[i]);
        if (strncmp(word, makers[i], cut) == 0) {
            memmove(word, word + cut, strlen(word + cut) + 1);
        }
    }
}

/* Whether `word` is one of `words` (a blank between two, '_' as '-'), or begins with one and goes on behind a '-': how
 * many characters of it matched. */
static size_t match(const char *word, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (word[i] != (name[i] == '_' ? '-' : name[i])) {
            return 0;
        }
    }
    return word[length] == '\0' || word[length] == '-' ? length : 0;
}

static size_t match_words(const char *word, const char *words)
{
    size_t best = 0;
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        size_t found = match(word, words, length);
        best = found > best ? found : best;
        words += length + (words[length] == ' ');
    }
    return best;
}

const struct timing_gpu *timing_gpu_at(size_t index)
{
    return index < sizeof timing_gpus / sizeof timing_gpus[0] ? &timing_gpus[index] : NULL;
}

const struct timing_gpu *timing_gpu_find(const char *text)
{
    char word[WORD_MOST];
    plain_word(text, word);
    const struct timing_gpu *found = NULL;
    size_t best = 0;
    for (size_t i = 0; i < sizeof timing_gpus / sizeof timing_gpus[0]; i++) {
        size_t name = match(word, timing_gpus[i].name, strlen(timing_gpus[i].name));
        size_t other = match_words(word, timing_gpus[i].words);
        size_t matched = name > other ? name : other;
        if (matched > best) {
            best = matched;
            found = &timing_gpus[i];
        }
    }
    return found;
}

const struct timing_fabric *timing_fabric_at(size_t index)
{
    return index < sizeof timing_fabrics / sizeof timing_fabrics[0] ? &timing_fabrics[index] : NULL;
}

/* Whether one of the parts of `text` between '-' is `name`, or one of several words. */
static bool has_part(const char *text, const char *name, size_t length)
{
    for (const char *at = text; at != NULL; at = strchr(at, '-')) {
        at += *at == '-';
        if (strncmp(at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* One cloud joins each generation of GPUs by other NICs. */
static bool is_joined_by(const struct timing_fabric *fabric, const struct timing_gpu *gpu)
{
    return *fabric->gpus == '\0' || gpu == NULL || match_words(gpu->name, fabric->gpus) > 0;
}

const struct timing_fabric *timing_fabric_find(const char *text, uint32_t node_gpus, const struct timing_gpu *gpu)
{
    char word[WORD_MOST];
    plain_word(text, word);
    for (size_t i = 0; i < sizeof timing_fabrics / sizeof timing_fabrics[0]; i++) {
        const struct timing_fabric *fabric = &timing_fabrics[i];
        if ((fabric->node_gpus != 0 && node_gpus > fabric->node_gpus) || !is_joined_by(fabric, gpu)) {
            continue;
        }
        if (has_part(word, fabric->name, strlen(fabric->name))) {
            return fabric;
        }
        for (const char *at = fabric->words; *at != '\0';) {
            size_t length = strcspn(at, " ");
            if (has_part(word, at, length)) {
                return fabric;
            }
            at += length + (at[length] == ' ');
        }
    }
    return NULL;
}

const struct timing_expert *timing_expert_at(size_t index)
{
    return index < sizeof timing_experts / sizeof timing_experts[0] ? &timing_experts[index] : NULL;
}

const struct timing_expert_rate *timing_expert_rate_at(size_t index)
{
    return index < sizeof timing_expert_rates / sizeof timing_expert_rates[0] ? &timing_expert_rates[index] : NULL;
}

struct timing_curves timing_curves_shipped(void)
{
    return (struct timing_curves){.curves = timing_curves,
                                  .count = sizeof timing_curves / sizeof timing_curves[0],
                                  .values = timing_curve_values,
                                  .kinds = timing_curve_kinds};
}

bool timing_version_parse(const char *text, uint32_t *version)
{
    uint32_t parts[3] = {0, 0, 0};
    if (*text == '\0') {
        *version = 0;
        return true;
    }
    text += *text == 'v';
    for (size_t i = 0; i < 3; i++) {
        uint32_t digits = 0;
        for (; *text >= '0' && *text <= '9'; text++, digits++) {
            parts[i] = parts[i] * 10 + (uint32_t)(*text - '0');
        }
        if (digits == 0 || digits > 2) {
            return false;
        }
        if (*text != '.') {
            break;
        }
        text++;
    }
    *version = (parts[0] * 100 + parts[1]) * 100 + parts[2];
    return *text == '\0' || *text == '-' || *text == '+';
}

/* RCCL has no releases here but models, one a generation: 5 for MI300 and after, 4 before. */
static void find_rccl(const struct timing_gpu *gpu, struct timing_tuning *tuning)
{
    uint32_t model = strncmp(gpu->name, "mi2", 3) == 0 ? 4 : 5;
    for (size_t i = 0; i < sizeof timing_rccl_rows / sizeof timing_rccl_rows[0]; i++) {
        const struct timing_tuning_row *row = &timing_rccl_rows[i];
        if (row->version == model || row->version == 255) {
            tuning->tables[row->table].values = timing_tuning_values + row->values;
            tuning->tables[row->table].count = row->count;
        }
    }
}

void timing_tuning_find(const struct timing_gpu *gpu, uint32_t version, struct timing_tuning *tuning)
{
    *tuning = (struct timing_tuning){.version = version == 0 ? 99999 : version};
    /* Tables that RCCL does not change are NCCL's. */
    for (size_t i = 0; i < sizeof timing_nccl_rows / sizeof timing_nccl_rows[0]; i++) {
        const struct timing_tuning_row *row = &timing_nccl_rows[i];
        bool is_first = tuning->tables[row->table].values == NULL;
        if (row->count > 0 && (row->version <= tuning->version || is_first)) {
            tuning->tables[row->table].values = timing_tuning_values + row->values;
            tuning->tables[row->table].count = row->count;
        }
    }
    if (gpu->is_rccl) {
        find_rccl(gpu, tuning);
    }
}

void timing_machine_settle(struct timing_machine *machine)
{
    if (machine->fabric == NULL) {
        machine->fabric = &timing_fabrics[0];
    }
    const struct timing_gpu *gpu = machine->gpu;
    const struct timing_fabric *fabric = machine->fabric;
    if (!(machine->link_gbytes > 0)) {
        machine->link_gbytes = gpu->link_gbytes;
    }
    if (machine->nic_every == 0) {
        machine->nic_every = fabric->nic_every != 0 ? fabric->nic_every : gpu->nic_every;
    }
    if (!(machine->nic_gbytes > 0)) {
        machine->nic_gbytes = fabric->nic_gbytes > 0 ? fabric->nic_gbytes : gpu->nic_gbytes;
    }
    timing_tuning_find(gpu, machine->version, &machine->tuning);
    if (machine->shipped.curves == NULL) {
        machine->shipped = timing_curves_shipped();
    }
    const struct timing_gpu *relative = timing_gpu_find(gpu->name);
    machine->relative_count = 0;
    while (relative != NULL && machine->relative_count < TIMING_RELATIVES) {
        machine->relatives[machine->relative_count++] = relative;
        relative = *relative->like != '\0' ? timing_gpu_find(relative->like) : NULL;
    }
}
