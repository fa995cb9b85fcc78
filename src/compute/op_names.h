/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a list, for who finds something by name or synonym. */
#ifndef ORR_COMPUTE_OP_NAMES_H
#define ORR_COMPUTE_OP_NAMES_H

#include "base/error.h"
#include "orrery/op.h"

/* Whether `name` is one of the words, in any case of letters. */
bool op_is_word(const char *words, const char *name);

#endif
