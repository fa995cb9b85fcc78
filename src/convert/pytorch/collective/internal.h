/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of collective.h share: the walk over a clue's evidence. Not for anybody else. */
#ifndef ORR_CONVERT_PYTORCH_COLLECTIVE_INTERNAL_H
#define ORR_CONVERT_PYTORCH_COLLECTIVE_INTERNAL_H

#include "convert/pytorch/collective/collective.h"

/* The device trace's words: the event's, its launch's, its annotation's, then those of the ops; NULL = says nothing. */
enum { COMM_OWN_KINETO = 3 };
const struct kineto_comm *comm_clue_kineto(const struct comm_clue *clue, uint32_t index);

const char *comm_clue_kineto_text(const struct comm_clue *clue, uint32_t number);
const char *comm_clue_host_text(const struct comm_clue *clue, uint32_t number);
bool comm_name_begins(const char *name, const char *front);

/* Need the fact's kind and group. */
ORR_MUST_CHECK enum orr_status comm_find_size(const struct comm_clue *clue, struct comm_fact *fact,
                                              struct orr_error *err);
ORR_MUST_CHECK enum orr_status comm_find_ends(const struct comm_clue *clue, struct comm_fact *fact,
                                              struct orr_error *err);

#endif
