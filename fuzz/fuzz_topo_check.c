/* SPDX-License-Identifier: Apache-2.0 */
/* The check of topology files, and all that is done with a machine once it is read: measured, drawn, told. Besides not
 * crashing: findings are printable lines, and nothing stays in the account. */
#include "config/topology_check.h"
#include "config/wired.h"
#include "fuzz/reading.h"
#include "report/topo_drawing.h"
#include "report/topo_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(struct fuzz_reading *reading, const struct topo_graph *graph, FILE *stream)
{
    struct topo_measure measure;
    struct topo_drawing drawing;
    if (topo_measure(graph, &reading->mem, &measure, &reading->err) == ORR_OK) {
        topo_text_put(&measure, "input", stream);
        topo_json_put(&measure, "input", stream);
    }
    if (topo_drawing_make(graph, NULL, true, &reading->mem, &drawing, &reading->err) == ORR_OK) {
        if (topo_drawing_svg(&drawing, "input", stream, &reading->err) != ORR_OK) {
            fuzz_check_line(reading->err.text);
        }
        if (topo_drawing_text(&drawing, "input", stream, &reading->err) != ORR_OK) {
            fuzz_check_line(reading->err.text);
        }
        topo_drawing_free(&drawing);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reading reading;
    struct topo_graph graph;
    struct config_wired_extra extra;
    const char *text = (const char *)data;
    fuzz_reading_begin(&reading);
    fuzz_check_status(&reading,
                      config_check_topology_text("input", text, size, &reading.notes, &reading.mem, &reading.err));
    FILE *stream = fopen("/dev/null", "w");
    if (stream != NULL && config_parse_topology("input", text, size, &reading.arena, &reading.notes, &graph, &extra,
                                                &reading.err) == ORR_OK) {
        show(&reading, &graph, stream);
        topo_graph_free(&graph);
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    fuzz_reading_end(&reading);
    return 0;
}
