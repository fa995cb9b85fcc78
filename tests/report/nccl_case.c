/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/report/nccl_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orrery.h"

static const struct {
    const char *theirs, *ours;
} types[] = {{"AR", "all-reduce"}, {"AG", "all-gather"}, {"RS", "reduce-scatter"}, {"A2A", "all-to-all"}},
  groups[] = {{"TP", "tp"}, {"DP", "dp"}, {"EP", "ep"}, {"DP_EP", "dp-ep"}},
  settings[] = {{"X_0", ""}, {"AS_PXN_ENABLE_1", "pxn"}, {"AS_NVLS_ENABLE_1", "nvls"}};

#define TRANSLATE(table, word, result)                                                                                 \
    do {                                                                                                               \
        for (size_t at = 0; at < sizeof(table) / sizeof((table)[0]); at++) {                                           \
            if (strcmp((table)[at].theirs, (word)) == 0) {                                                             \
                (result) = (table)[at].ours;                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static bool parse(const char *name, char gpu[16], struct orr_coll_options *options)
{
    char setting[32];
    char group[16];
    char type[16];
    unsigned gpus = 0;
    unsigned per_server = 0;
    unsigned tp = 0;
    unsigned ep = 0;
    unsigned long bytes = 0;
    const char *digits = strstr(name, "n"); /* the settings are in capitals */
    if (digits == NULL || (size_t)(digits - name) >= sizeof setting ||
        sscanf(digits, "n%u-gps%u-tp%u-ep%u-%15[^-]-%15[^-]-%15[^-]-%lu", &gpus, &per_server, &tp, &ep, gpu, group,
               type, &bytes) != 8) {
        return false;
    }
    memcpy(setting, name, (size_t)(digits - name));
    setting[digits - name] = '\0';
    const char *asked = NULL;
    options->group = NULL;
    options->type = NULL;
    TRANSLATE(settings, setting, asked);
    TRANSLATE(groups, group, options->group);
    TRANSLATE(types, type, options->type);
    if (asked == NULL || options->group == NULL || options->type == NULL) {
        return false;
    }
    options->gpus = gpus;
    options->gpus_per_server = per_server;
    options->tp = tp;
    options->ep = ep;
    options->gpu_type = gpu;
    options->bytes = bytes;
    options->nvls = strcmp(asked, "nvls") == 0;
    options->pxn = strcmp(asked, "pxn") == 0;
    return true;
}

char *nccl_case_dump(const char *name, size_t *size)
{
    struct orr_coll_options options;
    orr_coll_options_init(&options);
    struct orr_error err = {0};
    char gpu[16];
    char *text = NULL;
    options.compat = true;
    options.dump = true;
    if (!parse(name, gpu, &options)) {
        printf("%s: not the name of a case\n", name);
        return NULL;
    }
    FILE *stream = open_memstream(&text, size);
    bool made = stream != NULL && orr_coll_show(&options, stream, &err) == ORR_OK;
    if (stream != NULL && fclose(stream) != 0) {
        made = false;
    }
    if (!made) {
        printf("%s: %s\n", name, err.text);
        free(text);
        return NULL;
    }
    return text;
}
