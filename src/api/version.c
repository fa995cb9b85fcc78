/* SPDX-License-Identifier: Apache-2.0 */
/* The two facts about the library itself that its users ask for: which one it is, and what its files may say. */
#include "config/config.h"
#include "orrery.h"

const char *orr_version(void)
{
    return ORR_VERSION;
}

enum orr_status orr_config_reference(bool json_schema, FILE *stream, struct orr_error *err)
{
    return config_write_reference(json_schema, stream, err);
}
