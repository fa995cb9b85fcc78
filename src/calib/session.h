/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps between the public functions and the parts of a calibration: what the options mean, which files are read,
 * what goes to the store. A session owns the memory of one call; texts of the calibration live in it.
 */
#ifndef ORR_CALIB_SESSION_H
#define ORR_CALIB_SESSION_H

#include "base/notes.h"
#include "calib/file.h"
#include "calib/network.h"
#include "orrery.h"

struct calib_session {
    struct mem mem;
    struct arena arena;
    struct notes notes;
    const struct orr_notices *notices;
    struct calib_network *network; /* what measured collectives gave; NULL: there were none */
};

void calib_session_init(struct calib_session *session, uint64_t memory_limit, const struct orr_notices *notices);
/* Hands its warnings on. */
void calib_session_free(struct calib_session *session);

/* Reads all that the options name and fits it. */
ORR_MUST_CHECK enum orr_status calib_session_fit(struct calib_session *session, const struct orr_calib_options *options,
                                                 struct calib *calib, struct orr_error *err);

/* Enters it in the store at `path`, with the number it got. */
ORR_MUST_CHECK enum orr_status calib_session_keep(struct calib_session *session, const char *path,
                                                  const struct calib *calib, int64_t *id, struct orr_error *err);

/* A calibration file; one that was refused is a warning. */
ORR_MUST_CHECK enum orr_status calib_session_read(struct calib_session *session, const char *path, struct calib *calib,
                                                  struct orr_error *err);

/* Fills the fields of `tuning` that are 0. */
void calib_tune(const struct calib *calib, struct orr_tuning *tuning);

#endif
