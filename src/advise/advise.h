/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice as it is put together: a document that grows (findings, suggestions, trials) and changes that are tried by
 * simulation. A change is a few options that a user could add to the command; what it does to the job is known by
 * running the job with them, never by a formula.
 *
 * A document owns every text in it. Memory that cannot be had is remembered and told once, at the end, so that who
 * writes a sentence need not ask whether there was room for it. Knows nothing of printing.
 */
#ifndef ORR_ADVISE_ADVISE_H
#define ORR_ADVISE_ADVISE_H

#include "base/arena.h"
#include "orrery.h"

/* ---- changes ---- */

enum { ADVISE_SETTINGS = 12 };

/* --option value; with a key --set key=value; value NULL: the option alone. */
struct advise_setting {
    const char *option, *key, *value;
};

struct advise_change {
    const char *family; /* of changes of one family the best is told alone */
    const char *title;
    const char *kind; /* as orr_advice_suggestion */
    struct advise_setting settings[ADVISE_SETTINGS];
    uint32_t setting_count;
    bool contends;            /* helps or not by how messages share links */
    enum orr_backend backend; /* that it is tried on */
    uint64_t before_ns;       /* of the job as it is, there */
    uint64_t after_ns;        /* 0: no better than before, or `because` */
    const char *because;
};

struct advise_changes {
    struct advise_change *list;
    uint32_t count, room;
};

/* ---- the document ---- */

struct advise_document {
    struct orr_advice shown; /* first: what the caller gets */
    struct mem mem;
    struct arena arena;
    struct orr_advice_finding *findings;
    struct orr_advice_suggestion *suggestions;
    struct orr_advice_trial *trials;
    uint32_t finding_room, suggestion_room, trial_room;
    struct advise_change unseen; /* what is written where there is no room for a change */
    bool failed;                 /* memory ran out */
};

struct advise_document *advise_document_new(uint64_t memory_limit, struct orr_error *err);
/* A text of the document's; "" where memory ran out. */
const char *advise_text(struct advise_document *document, const char *format, ...) ORR_PRINTF(2, 3);

/* A finding that has been begun; evidence and numbers are added to the last one. Shares below ADVISE_LEAST
 * are none; 0 where it is no share of the step, and grave. */
#define ADVISE_LEAST 0.05
void advise_find(struct advise_document *document, const char *id, double share, const char *title);
void advise_evidence(struct advise_document *document, const char *format, ...) ORR_PRINTF(2, 3);
void advise_number(struct advise_document *document, const char *name, double value);

/* A new one, to which settings are added; where memory ran out one that nobody sees. */
struct advise_change *advise_change(struct advise_document *document, struct advise_changes *changes,
                                    const char *family, const char *kind, const char *title);
void advise_option(struct advise_change *change, const char *option, const char *value);
void advise_set(struct advise_change *change, const char *key, const char *value);
/* "rail:400Gbps" becomes "rail:800Gbps": every rate in a text times two. NULL: it has none, or is NULL. */
const char *advise_twice(struct advise_document *document, const char *text);
/* As it is typed: "--set network.latency=250". */
const char *advise_change_text(struct advise_document *document, const struct advise_change *change);

/* Suggestions from the changes that gained at least half a percent, the best of each family, the rest as trials. */
void advise_conclude(struct advise_document *document, const struct advise_changes *changes);
/* Whether it did; and the best of a family that did, NULL: none. */
bool advise_helps(const struct advise_change *change);
const struct advise_change *advise_best_of(const struct advise_changes *changes, const char *family);
/* Sorts and closes the lists: ORR_ENOMEM where anything was lost. */
ORR_MUST_CHECK enum orr_status advise_finish(struct advise_document *document, struct orr_error *err);

struct param;
/* What repeats the job, into shown.command: "orrery run" and the rows that are not as in `initial`. */
ORR_MUST_CHECK enum orr_status advise_command(struct advise_document *document, const char *name,
                                              const struct param *rows, unsigned commands, const void *options,
                                              const void *initial, struct orr_error *err);

/* ---- trials of traces ---- */

struct advise_job {
    struct advise_document *document;
    struct orr_run_options options; /* the backend settled, the traces loaded */
    uint32_t threads, tries;
    uint64_t before_ns;
    enum orr_backend shared; /* the network that changes which contend are tried on, and the time there */
    uint64_t shared_ns;      /* 0: they are not tried */
    const char *not_shared;  /* why */
    uint64_t simulations;
};

/* One simulation with a change (NULL: as it is) on `backend`; it is given up once it takes longer than `bound_ns`,
 * which is ORR_EINTR. */
ORR_MUST_CHECK enum orr_status advise_simulate(const struct advise_job *job, const struct advise_change *change,
                                               enum orr_backend backend, uint64_t bound_ns, uint64_t *ns,
                                               struct orr_error *err);
/* All changes from `first` on, as many as tries are left, on several threads; each gets its network, its before_ns and
 * its after_ns or because. */
ORR_MUST_CHECK enum orr_status advise_try(struct advise_job *job, struct advise_changes *changes, uint32_t first,
                                          struct orr_error *err);

#endif
