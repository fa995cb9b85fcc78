/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra graphs as JSON, in all three spellings. They are written as they are read, so the output is a link to nowhere;
 * what must hold is what holds for the other converters (fuzz/converting.h). */
#include "convert/json_workload.h"
#include "fuzz/converting.h"

static char folder[] = "/tmp/fuzz-json-XXXXXX";
static char output[sizeof folder + 8];

static void remove_folder(void)
{
    (void)unlink(output);
    (void)rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct convert_summary summary;
    char path[64];
    if (output[0] == '\0') {
        if (mkdtemp(folder) == NULL) {
            abort();
        }
        (void)snprintf(output, sizeof output, "%s/out.et", folder);
        if (symlink("/dev/null", output) != 0 || atexit(remove_folder) != 0) {
            abort();
        }
    }
    int file = fuzz_file(data, size, path);
    fuzz_reading_begin(&reading);
    struct convert_request request = {.input = path,
                                      .output = output,
                                      .unknown_size = 64,
                                      .has_unknown_size = size % 2 == 0,
                                      .passes = 1,
                                      .mem = &reading.mem,
                                      .notes = &reading.notes};
    fuzz_check_status(&reading, json_convert(&request, &summary, &reading.err));
    fuzz_reading_end(&reading);
    (void)close(file);
    return 0;
}
