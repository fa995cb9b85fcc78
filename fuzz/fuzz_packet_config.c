/* SPDX-License-Identifier: Apache-2.0 */
/* Network configurations of the packet network, and logical topologies. Besides not crashing: a refusal is one
 * printable line, and nothing stays in the account. */
#include "config/wired.h"
#include "fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct packet_config config;
    struct config_packet_files files;
    struct topo_dims dims;
    fuzz_reading_begin(&reading);
    fuzz_check_status(&reading, config_parse_packet("input", (const char *)data, size, &reading.arena, &reading.notes,
                                                    &config, &files, &reading.err));
    fuzz_check_status(&reading,
                      config_parse_logical("input", (const char *)data, size, &reading.notes, &dims, &reading.err));
    fuzz_reading_end(&reading);
    return 0;
}
