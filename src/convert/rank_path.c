/* SPDX-License-Identifier: Apache-2.0 */
/* Apart from the converters, because the program names the files it wrote by the same rule. */
#include "convert/rank_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t rank_path_prefix(const char *output)
{
    size_t length = strlen(output);
    bool ends = length > 3 && strcmp(output + length - 3, ".et") == 0;
    return ends ? length - 3 : length;
}

enum orr_status rank_path_make(const char *output, uint32_t rank, uint32_t ranks, char path[RANK_PATH_ROOM],
                               struct orr_error *err)
{
    enum { NUMBER_ROOM = 16 }; /* ".4294967295.et" and its end */
    size_t prefix = rank_path_prefix(output);
    if (prefix + NUMBER_ROOM > RANK_PATH_ROOM) {
        return error_set(err, ORR_EINVAL, "the output's path is longer than %d bytes", RANK_PATH_ROOM - NUMBER_ROOM);
    }
    if (ranks == 1 && output[prefix] != '\0') {
        (void)snprintf(path, RANK_PATH_ROOM, "%s", output);
    } else {
        (void)snprintf(path, RANK_PATH_ROOM, "%.*s.%" PRIu32 ".et", (int)prefix, output, rank);
    }
    return ORR_OK;
}
