/* SPDX-License-Identifier: Apache-2.0 */
/* The table of laws. Those without numbers of their own are rows here and nothing else. */
#include "net/cc/cc.h"

static const struct cc_law none = {.name = "none", .number = PACKET_CC_NONE, .in_files = true, .is_fluid = true};
static const struct cc_law credit = {.name = "credit", .number = PACKET_CC_CREDIT, .is_by_receiver = true};

static const struct cc_law *const laws[] = {&none,     &cc_dcqcn, &cc_hpcc,  &cc_timely,
                                            &cc_dctcp, &cc_pint,  &cc_swift, &credit};

const struct cc_law *cc_law_at(size_t index)
{
    return index < sizeof laws / sizeof laws[0] ? laws[index] : NULL;
}

const struct cc_law *cc_law_called(const char *name)
{
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
        if (strcmp(laws[i]->name, name) == 0) {
            return laws[i];
        }
    }
    return NULL;
}

static const struct cc_law *cc_find(uint32_t number)
{
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) {
        if (laws[i]->number == number) {
            return laws[i];
        }
    }
    return NULL;
}

const struct cc_law *cc_law_of(uint32_t number)
{
    const struct cc_law *law = cc_find(number);
    return law == NULL ? &none : law;
}

bool cc_is_in_files(uint32_t number)
{
    const struct cc_law *law = cc_find(number);
    return law != NULL && law->in_files;
}

bool cc_matters(const struct packet_config *config)
{
    const struct cc_law *law = cc_law_of(config->cc_mode);
    return law->is_fluid && (law->needs & ((law->needs & CC_MARKS) != 0 && !config->enable_qcn ? 0 : UINT8_MAX)) != 0;
}
