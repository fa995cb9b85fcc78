/* SPDX-License-Identifier: Apache-2.0 */
/* A collective type as people write it: all-reduce, ALL_REDUCE and AllReduce are one. */
#ifndef ORR_RUN_TYPE_WORD_H
#define ORR_RUN_TYPE_WORD_H

#include "base/error.h"

/* Chakra's number of the type. ORR_EINVAL names the nearest, or all there are. */
ORR_MUST_CHECK enum orr_status type_word_parse(const char *text, int32_t *type, struct orr_error *err);

#endif
