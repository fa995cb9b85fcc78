/* SPDX-License-Identifier: Apache-2.0 */
/* Network files, and the other YAML format, custom collectives by node. Besides not crashing: a refusal is one
 * printable line, and nothing stays in the account. */
#include "config/config.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    fuzz_reading_begin(&reading);
    struct topo_dims dims;
    struct config_custom_node *nodes = NULL;
    uint32_t count = 0;
    fuzz_check_status(&reading,
                      config_parse_network("input", (const char *)data, size, &reading.notes, &dims, &reading.err));
    fuzz_check_status(&reading, config_parse_custom_nodes("input", (const char *)data, size, &reading.arena,
                                                          &reading.notes, &nodes, &count, &reading.err));
    fuzz_reading_end(&reading);
    return 0;
}
