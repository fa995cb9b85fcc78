/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the name of a recording's file tells: the rank, which run it is of, when it was written. Names are the second
 * witness, behind the file's content (convert/recording.h), and the only one for execution traces, which do not say
 * their rank.
 *
 * Our own recorders' names, R a rank and TAG anything: host_R.json, pytorch_et_R.json, device_R.json, kineto_R.json,
 * each also as …_R_TAG.json; host_rank_R.json, device_rank_R.json, trace_rank_R_epoch_E.json. Others': rank-0.Apr_03….
 * pt.trace.json, worker0.1623143566756.pt.trace.json, HOST_PID.TIMESTAMP.pt.trace.json, anything with rank or worker
 * and a number in it.
 */
#ifndef ORR_CONVERT_PYTORCH_IMPORT_NAME_H
#define ORR_CONVERT_PYTORCH_IMPORT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMPORT_NAME_ROOM = 256 };

struct import_name {
    bool is_ours;                 /* one of our own recorders' names: `tag` is then as written */
    int64_t rank;                 /* -1 = none */
    int64_t number;               /* a number at the end that may be a rank, where nothing says so; -1 = none */
    char stem[IMPORT_NAME_ROOM];  /* the name without its endings, cut to fit */
    char tag[IMPORT_NAME_ROOM];   /* ours: TAG or ""; others: what is left of the stem without rank and digits */
    char stamp[IMPORT_NAME_ROOM]; /* what is left of the stem without the rank: the time of writing is in it, if at all
                                   */
};

/* `name` is without folders. */
void import_name_read(const char *name, struct import_name *parsed);

/* Whether a file of this name in a folder is looked at at all. */
bool import_name_is_candidate(const char *name);

/* The order of two stamps by the numbers in them, then by text. */
int import_stamp_compare(const char *left, const char *right);

#endif
