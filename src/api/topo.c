/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions on wired machines: a generated one keeps how it was made, so that its file has the spelling that
 * was asked for; what is asked of its wiring is asked of its graph, as of one that was read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/machine_wires.h"
#include "base/error.h"
#include "base/notices.h"
#include "config/topology_check.h"
#include "config/topology_write.h"
#include "config/wired.h"
#include "io/outfile.h"
#include "param/param.h"
#include "report/topo_drawing.h"
#include "report/topo_text.h"
#include "topo/make/make.h"

struct orr_topo {
    struct mem mem;
    struct arena arena;
    bool is_made;
    struct topo_made made;
    struct topo_graph graph; /* of a made one, when it is first needed */
    bool is_measured;
    struct topo_measure measure; /* when it is first asked for */
    char *title;
};

/* NULL when there is no memory. */
static struct orr_topo *topo_new(const char *title)
{
    struct orr_topo *topo = calloc(1, sizeof *topo);
    if (topo == NULL) {
        return NULL;
    }
    arena_init(&topo->arena, &topo->mem);
    topo->title = arena_strndup(&topo->arena, title, strlen(title));
    if (topo->title == NULL) {
        orr_topo_close(topo);
        return NULL;
    }
    return topo;
}

static enum orr_status no_memory(struct orr_error *err)
{
    return error_set(err, ORR_ENOMEM, "out of memory for a machine");
}

enum orr_status orr_topo_make(const char *what, const struct orr_topo_setting *settings, size_t count,
                              const struct orr_notices *notices, struct orr_topo **topo, struct orr_error *err)
{
    struct topo_settings taken = {.what = what};
    enum orr_status status = ORR_OK;
    for (size_t i = 0; i < count && status == ORR_OK; i++) {
        status = topo_settings_take(&taken, settings[i].name, settings[i].value, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    struct orr_topo *made = topo_new(what);
    if (made == NULL) {
        return no_memory(err);
    }
    struct notes notes;
    notices_begin(&notes, &made->mem, notices);
    status = topo_make(what, &taken, &notes, &made->made, &made->mem, err);
    notices_end(&notes, notices);
    if (status != ORR_OK) {
        orr_topo_close(made);
        return status;
    }
    made->is_made = true;
    *topo = made;
    return ORR_OK;
}

enum orr_status orr_topo_open(const char *path, const struct orr_notices *notices, struct orr_topo **topo,
                              struct orr_error *err)
{
    struct config_wired_extra extra = {0};
    struct orr_topo *opened = topo_new(path);
    struct notes notes;
    if (opened == NULL) {
        return no_memory(err);
    }
    opened->is_made = !api_machine_is_file(path);
    enum orr_status status = ORR_OK;
    if (opened->is_made) {
        status = api_machine_wires(path, &opened->mem, &opened->made, err);
    } else {
        notices_begin(&notes, &opened->mem, notices);
        status = config_read_topology(path, &opened->arena, &notes, &opened->graph, &extra, err);
        notices_end(&notes, notices);
    }
    if (status != ORR_OK) {
        orr_topo_close(opened);
        return status;
    }
    *topo = opened;
    return ORR_OK;
}

void orr_topo_close(struct orr_topo *topo)
{
    if (topo != NULL) {
        topo_made_free(&topo->made);
        topo_graph_free(&topo->graph);
        arena_free(&topo->arena);
        free(topo);
    }
}

static void list_one(const struct topo_preset *preset, FILE *stream)
{
    param_print(stream, "%s: %s\n  default: %s\n  takes:  ", preset->name, preset->summary, preset->defaults);
    for (unsigned id = 0; id < TOPO_SET_COUNT; id++) {
        if (topo_preset_takes(preset, (enum topo_setting)id)) {
            param_print(stream, " %s", topo_setting_name((enum topo_setting)id));
        }
    }
    (void)fputc('\n', stream);
}

enum orr_status orr_topo_list(const char *name, FILE *stream, struct orr_error *err)
{
    if (name != NULL) {
        const struct topo_preset *preset = NULL;
        enum orr_status status = topo_preset_find(name, &preset, err);
        if (status != ORR_OK) {
            return status;
        }
        list_one(preset, stream);
        return error_of_stream(stream, "the list", err);
    }
    for (size_t i = 0; topo_preset_at(i) != NULL; i++) {
        (void)fprintf(stream, "%-16s %s\n", topo_preset_at(i)->name, topo_preset_at(i)->summary);
    }
    return error_of_stream(stream, "the list", err);
}

void orr_topo_count(const struct orr_topo *topo, struct orr_topo_counts *counts)
{
    const struct topo_made *made = &topo->made;
    *counts = (struct orr_topo_counts){.hosts = made->hosts,
                                       .nvswitches = made->nvswitches,
                                       .switches = made->switches,
                                       .links = made->link_count,
                                       .leaves = made->leaves,
                                       .spines = made->spines,
                                       .segments = made->segments};
    for (uint32_t node = 0; !topo->is_made && node < topo->graph.node_count; node++) {
        uint8_t kind = topo->graph.kinds[node];
        counts->hosts += kind == TOPO_NODE_HOST ? 1 : 0;
        counts->nvswitches += kind == TOPO_NODE_NVSWITCH ? 1 : 0;
        counts->switches += kind == TOPO_NODE_SWITCH ? 1 : 0;
    }
    counts->links += topo->is_made ? 0 : topo->graph.link_count;
}

const char *orr_topo_name(const struct orr_topo *topo)
{
    return topo->made.name;
}

enum orr_status orr_topo_write(const struct orr_topo *topo, const char *path,
                               const struct orr_topo_write_options *options, struct orr_error *err)
{
    if (!topo->is_made) {
        return error_set(err, ORR_EINVAL, "%s was read from a file; only a machine that was made is written",
                         topo->title);
    }
    bool simai = options->form == ORR_TOPO_SIMAI || (options->form == ORR_TOPO_DEFAULT && topo->made.simai);
    enum orr_status status = ORR_OK;
    if (path != NULL) {
        status = config_write_topology(&topo->made, path, simai, options->both_directions, err);
    } else {
        config_put_topology(&topo->made, simai, options->both_directions, options->stream);
        status = error_of_stream(options->stream, "the topology", err);
    }
    if (status == ORR_OK && options->logical != NULL) {
        status = config_write_logical(&topo->made, options->logical, err);
    }
    return status;
}

static enum orr_status need_graph(struct orr_topo *topo, struct orr_error *err)
{
    bool there = !topo->is_made || topo->graph.node_count > 0;
    return there ? ORR_OK : topo_made_graph(&topo->made, &topo->mem, &topo->graph, err);
}

enum orr_status orr_topo_stat(struct orr_topo *topo, bool json, FILE *stream, struct orr_error *err)
{
    enum orr_status status = need_graph(topo, err);
    if (status == ORR_OK && !topo->is_measured) {
        status = topo_measure(&topo->graph, &topo->mem, &topo->measure, err);
        topo->is_measured = status == ORR_OK;
    }
    if (status != ORR_OK) {
        return status;
    }
    (json ? topo_json_put : topo_text_put)(&topo->measure, topo->title, stream);
    return error_of_stream(stream, "the measures", err);
}

enum orr_status orr_topo_check(const char *path, FILE *stream, uint64_t *findings, struct orr_error *err)
{
    struct mem mem = {0};
    struct notes notes;
    notes_init(&notes, &mem, false);
    enum orr_status status = config_check_topology(path, &notes, &mem, err);
    for (uint32_t i = 0; status == ORR_OK && i < notes.count; i++) {
        param_print(stream, "%s\n", notes.lines[i]);
    }
    uint64_t count = notes.count;
    notes_free(&notes);
    if (status == ORR_OK) {
        status = error_of_stream(stream, "the findings", err);
    }
    if (status == ORR_OK) {
        *findings = count;
    }
    return status;
}

static enum orr_status api_topo_write_picture(const struct topo_drawing *drawing, const char *title, const char *path,
                                              struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = topo_drawing_svg(drawing, title, io_outfile_stream(file), err);
    return io_outfile_end(file, status, err);
}

/* A name that promises another format would hold what no program opens by it. */
static enum orr_status check_picture(const char *path, struct orr_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (dot == NULL || strcmp(dot, ".svg") == 0) {
        return ORR_OK;
    }
    return error_set(err, ORR_EINVAL, "%s: pictures are written as SVG, not %s; name it %.*s.svg", path, dot + 1,
                     (int)(dot - path), path);
}

enum orr_status orr_topo_show(struct orr_topo *topo, const char *dims, const char *path, FILE *stream,
                              struct orr_error *err)
{
    struct topo_drawing drawing = {0};
    enum orr_status status = path != NULL ? check_picture(path, err) : ORR_OK;
    if (status == ORR_OK) {
        status = need_graph(topo, err);
    }
    if (status == ORR_OK) {
        status = topo_drawing_make(&topo->graph, dims, path != NULL, &topo->mem, &drawing, err);
    }
    if (status == ORR_OK && path != NULL) {
        status = api_topo_write_picture(&drawing, topo->title, path, err);
    } else if (status == ORR_OK) {
        status = topo_drawing_text(&drawing, topo->title, stream, err);
        if (status == ORR_OK) {
            status = error_of_stream(stream, "the text", err);
        }
    }
    topo_drawing_free(&drawing);
    return status;
}
