/* SPDX-License-Identifier: Apache-2.0 */
/* Machines by name. Besides not crashing: a refusal is one printable line, and what is settled has as many ranks as its
 * dimensions make. */
#include <string.h>

#include "fuzz/reading.h"
#include "run/machine_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_settled(const struct run_machine *machine)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < machine->dim_count; i++) {
        product *= machine->dims[i];
    }
    if (product != machine->ranks) {
        abort();
    }
}

/* A refusal quotes the word, which may hold anything; the program shows it with '?' for what is not printable. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct run_machine machine;
    fuzz_reading_begin(&reading);
    char *word = arena_strndup(&reading.arena, (const char *)data, size);
    for (char *at = word; at != NULL && *at != '\0'; at++) {
        *at = (unsigned char)*at < 0x20 ? '?' : *at;
    }
    if (word != NULL) {
        enum orr_status status = run_machine_parse(word, &machine, &reading.err);
        fuzz_check_status(&reading, status);
        if (status == ORR_OK && machine.kind != RUN_MACHINE_FILE) {
            status = run_machine_settle(&machine, machine.ranks != 0 ? machine.ranks : 24, &reading.err);
            fuzz_check_status(&reading, status);
            if (status == ORR_OK) {
                check_settled(&machine);
            }
        }
    }
    fuzz_reading_end(&reading);
    return 0;
}
