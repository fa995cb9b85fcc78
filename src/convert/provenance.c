/* SPDX-License-Identifier: Apache-2.0 */
/* One table: the names in files and the words for people cannot drift apart. */
#include "convert/provenance.h"

static const struct {
    const char *name;
    const char *text;
} rows[PROVENANCE_COUNT] = {
#define PROVENANCE_X(id, row_name, row_text) {row_name, row_text},
    PROVENANCE_ROWS(PROVENANCE_X)
#undef PROVENANCE_X
};

const char *provenance_name(enum provenance from)
{
    return rows[from].name;
}

const char *provenance_text(enum provenance from)
{
    return rows[from].text;
}
