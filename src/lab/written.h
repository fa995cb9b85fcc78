/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that a caller gave us to write to: what the public functions that print into one do last. */
#ifndef ORR_LAB_WRITTEN_H
#define ORR_LAB_WRITTEN_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* error_of_stream: names `what` and the reason, when not all of it arrived. */
ORR_MUST_CHECK static inline enum orr_status written(FILE *stream, const char *what, struct orr_error *err)
{
    return error_of_stream(stream, what, err);
}

#endif
