/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery doctor` and `orrery cost` as their users meet them. */
#include "tests/cli/program.h"

#include <stdlib.h>
#include <string.h>

static void the_doctor_finds_every_collective_right(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("doctor");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, orr_version());
    CHECK_CONTAINS(result->out, "every value is what the collective promises\n");
    CHECK(strstr(result->out, "WRONG") == NULL, "%s", result->out);
}

static void the_doctors_json_goes_where_it_is_sent(void **state)
{
    (void)state;
    static const char *const lines[] = {"doctor --no-collectives --smi smi.txt --json",
                                        "doctor --no-collectives --smi smi.txt --json -",
                                        "doctor --no-collectives --smi smi.txt --json=-"};
    static const char *const files[] = {"doctor --no-collectives --smi smi.txt --json=a.json",
                                        "doctor --no-collectives --smi smi.txt --json b.json"};
    program_enter();
    program_write_text("smi.txt", "GPU: 3\nGFX_0:\nCLK: 2870 MHz\n");
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const struct program_result *result = program_run(lines[i]);
        CHECK_EXIT(result, 0);
        CHECK(result->out[0] == '{', "%s prints JSON", lines[i]);
        CHECK_CONTAINS(result->out, "\"gpu_freq_mhz\": 2870");
    }
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        const struct program_result *result = program_run(files[i]);
        CHECK_EXIT(result, 0);
        CHECK_CONTAINS(result->out, "Orrery ");
        CHECK_CONTAINS(program_read(i == 0 ? "a.json" : "b.json", NULL), "\"gpu_freq_mhz\": 2870");
    }
    const struct program_result *result = program_run("doctor --smi smi.txt --json=smi.txt");
    CHECK_EXIT(result, 2);
    CHECK_CONTAINS(result->err, "--json would replace the input smi.txt");
}

static void the_template_is_a_price_list_with_the_same_prices(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *result = program_run("cost torus --step-time 2s --json -");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->err, "orrery: warning: the prices are examples");
    char *examples = strdup(strstr(result->out, "\"machines\""));
    result = program_run("cost --template");
    CHECK_EXIT(result, 0);
    program_write_text("prices.yml", result->out);
    result = program_run("cost torus --step-time 2s --json - --prices prices.yml");
    CHECK_EXIT(result, 0);
    CHECK_TEXT(result->err, "");
    CHECK_TEXT(strstr(result->out, "\"machines\""), examples);
    free(examples);
}

static void a_bill_replaces_no_file_it_is_made_from(void **state)
{
    (void)state;
    static const char *const lines[] = {"cost line.topo --prices list.yml --json list.yml",
                                        "cost line.topo --prices list.yml --json line.topo"};
    program_enter();
    program_write_text("list.yml", "items: [{name: a, each: gpu, price: 1}, {name: b, each: switch, price: 5}]\n");
    program_write_text("line.topo", "3 1 2\n2\n0 2 400Gbps 1us 0\n1 2 400Gbps 1us 0\n");
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        const struct program_result *result = program_run(lines[i]);
        CHECK_EXIT(result, 2);
        CHECK_CONTAINS(result->err, "--json would replace the input");
    }
    const struct program_result *result = program_run("cost line.topo --prices list.yml");
    CHECK_EXIT(result, 0);
    CHECK_CONTAINS(result->out, "line.topo: 2 GPUs, 1 server, 8 NICs, 1 switch, 2 cables\n");
    CHECK_CONTAINS(result->out, "units     7\n");
}

TEST_MAIN(the_doctor_finds_every_collective_right, the_doctors_json_goes_where_it_is_sent,
          the_template_is_a_price_list_with_the_same_prices, a_bill_replaces_no_file_it_is_made_from)
