/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning in parts: the search (tune.c), the system file that says what it found (tune_file.c), NCCL's settings
 * (tune_nccl.c). Texts are the document's. */
#ifndef ORR_ADVISE_TUNE_H
#define ORR_ADVISE_TUNE_H

#include "advise/advise.h"
#include "run/session.h"

/* The key of the system file that an override is about; NULL: it is about another file. */
const char *tune_system_key(const struct orr_override *override, bool wired);
/* The system file of the run with the overrides of its options and the settings of `change` in it; keys that neither
 * names stay as they were. ORR_EINVAL where
 * there is no such file. */
ORR_MUST_CHECK enum orr_status tune_system_text(struct advise_document *document, const struct orr_run_options *options,
                                                const struct orr_run *run, const struct advise_change *change,
                                                const char **text, struct orr_error *err);

/* NCCL_ALGO and NCCL_PROTO for the collectives of a run whose collectives take what NCCL takes. */
ORR_MUST_CHECK enum orr_status tune_nccl_text(struct advise_document *document, const struct sim_config *config,
                                              uint32_t server, const char **text, struct orr_error *err);

#endif
