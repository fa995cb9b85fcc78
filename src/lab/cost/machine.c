/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name is a file before it is anything else, since that is what people have; then one of the lab's, which begin as no
 * other does; what is neither is left to the makers of machines, whose messages know the nearest name. A run without a
 * wired topology (the analytical networks) has GPUs and servers to count, and no switches.
 */
#include "lab/cost/machine.h"

#include <inttypes.h>
#include <string.h>

#include "config/wired.h"
#include "io/file.h"
#include "lab/store/read.h"
#include "run/machine_files.h"
#include "topo/make/make.h"

struct finding {
    struct arena *arena;
    struct notes *notes;
    struct orr_error *err;
};

static enum orr_status count_file(struct finding *f, const char *path, struct cost_count *count)
{
    struct topo_graph graph = {0};
    struct config_wired_extra extra = {0};
    enum orr_status status = config_read_topology(path, f->arena, f->notes, &graph, &extra, f->err);
    if (status == ORR_OK) {
        status = cost_count_graph(&graph, f->arena, count, f->err);
        count->gpus_per_server = status == ORR_OK ? extra.gpus_per_server : 0;
        topo_graph_free(&graph);
    }
    return status;
}

static enum orr_status count_made(struct finding *f, const char *what, const struct topo_settings *settings,
                                  struct cost_count *count)
{
    struct topo_made made = {0};
    struct topo_graph graph = {0};
    struct orr_error reason = {0};
    enum orr_status status = topo_make(what, settings, f->notes, &made, f->arena->mem, &reason);
    if (status != ORR_OK) {
        return error_set(f->err, status, "%.200s: no such file, and no machine that can be made: %s", settings->what,
                         reason.text);
    }
    status = topo_made_graph(&made, f->arena->mem, &graph, f->err);
    if (status == ORR_OK) {
        status = cost_count_graph(&graph, f->arena, count, f->err);
        topo_graph_free(&graph);
    }
    if (status == ORR_OK) {
        /* Only of servers: a fat tree of single GPUs says nothing of boxes. */
        count->gpus_per_server = made.gpus_per_server > 1 ? made.gpus_per_server : 0;
    }
    topo_made_free(&made);
    return status;
}

/* A machine's name that says how many GPUs there are, or that the makers of machines do not know: theirs have sizes
 * of their own where nothing is said. A line is theirs. */
static bool is_machine_name(const char *what)
{
    struct run_machine machine;
    const struct topo_preset *preset = NULL;
    if (run_machine_parse(what, &machine, NULL) != ORR_OK) {
        return strchr(what, '>') == NULL; /* the message knows the nearest name */
    }
    return machine.line == NULL && machine.kind != RUN_MACHINE_FILE &&
           (run_machine_told(&machine) != 0 || topo_preset_find(what, &preset, NULL) != ORR_OK);
}

/* Its groups are servers where there are several dimensions; those of a fat tree are leaves. */
static enum orr_status count_lab_machine(struct finding *f, const char *what, struct cost_count *count)
{
    static const char option[] = "parameter 'machine': "; /* how the lab's messages begin */
    struct orr_error reason = {0};
    struct run_machine machine;
    struct run_machine_wiring wiring;
    struct topo_settings settings = {.what = what};
    enum orr_status status = run_machine_parse(what, &machine, &reason);
    uint32_t told = status == ORR_OK ? run_machine_told(&machine) : 0;
    told = told == 0 && status == ORR_OK ? machine.usual : told;
    if (status == ORR_OK && told == UINT32_MAX) {
        status = error_set(&reason, ORR_ERANGE, "%.80s: more than %d GPUs", what, INT32_MAX);
    } else if (status == ORR_OK && told == 0) {
        status = error_set(&reason, ORR_EINVAL, "%.80s leaves open how many GPUs it has; 64gpu_%s says it", what,
                           run_machine_word(machine.kind));
    }
    status = status == ORR_OK ? run_machine_settle(&machine, told, &reason) : status;
    if (status == ORR_OK) {
        run_machine_wire(&machine, &wiring);
        for (size_t i = 0; i < wiring.count && status == ORR_OK; i++) {
            status = topo_settings_take(&settings, wiring.settings[i].name, wiring.settings[i].value, &reason);
        }
    }
    if (status != ORR_OK) {
        bool named = strncmp(reason.text, option, strlen(option)) == 0;
        return error_set(f->err, status, "%s", reason.text + (named ? strlen(option) : 0));
    }
    bool made = machine.kind == RUN_MACHINE_MADE;
    status = count_made(f, made ? run_machine_made_of(&machine) : run_machine_wires(machine.kind), &settings, count);
    if (status == ORR_OK && machine.groups != 0 && machine.dim_count > 1) {
        count->gpus_per_server = machine.ranks / machine.groups;
    }
    return status;
}

static enum orr_status count_wired(struct finding *f, const char *what, struct cost_count *count)
{
    if (file_exists(what)) {
        return count_file(f, what, count);
    }
    return is_machine_name(what) ? count_lab_machine(f, what, count)
                                 : count_made(f, what, &(struct topo_settings){.what = what}, count);
}

/* Levels that were given by hand are boxes of unknown ports. */
static enum orr_status count_by_hand(struct finding *f, const struct orr_cost_counts *given, struct cost_count *count)
{
    struct cost_boxes *boxes = arena_zalloc(f->arena, 2 * sizeof *boxes);
    struct cost_cables *cables = arena_zalloc(f->arena, sizeof *cables);
    if (boxes == NULL || cables == NULL) {
        return mem_error(f->arena->mem, "the parts of a machine", f->err);
    }
    const struct cost_boxes levels[] = {{true, 0, given->leaves}, {false, 0, given->spines}};
    *count = (struct cost_count){.gpus = given->gpus,
                                 .servers = given->servers,
                                 .nics = given->nics,
                                 .nvswitches = given->nvswitches,
                                 .plain_switches = given->switches,
                                 .boxes = boxes,
                                 .cables = cables};
    for (size_t i = 0; i < 2; i++) {
        if (levels[i].count > 0) {
            boxes[count->box_count++] = levels[i];
        }
    }
    cables[0].count = given->links;
    count->cable_count = given->links > 0;
    return ORR_OK;
}

/* The topology that the run was on, from the folder it ran in; NULL where there was none. */
static enum orr_status topology_of(struct finding *f, const struct store_view *view, const char **path)
{
    *path = NULL;
    for (uint32_t i = 0; i < view->input_count; i++) {
        const struct store_input *input = &view->inputs[i];
        if (strcmp(input->role, "topology") != 0) {
            continue;
        }
        bool whole = input->path[0] == '/' || view->run.folder[0] == '\0';
        *path = whole ? input->path : arena_printf(f->arena, "%s/%s", view->run.folder, input->path);
        return *path == NULL ? mem_error(f->arena->mem, "the parts of a machine", f->err) : ORR_OK;
    }
    return ORR_OK;
}

static enum orr_status cost_machine_read_run(struct finding *f, struct lab_store *store,
                                             const struct orr_cost_machine *asked, struct cost_machine *machine)
{
    struct store_view view;
    const char *topology = NULL;
    enum orr_status status = store_read_view(store, asked->run, 0, f->arena, &view, f->err);
    if (status != ORR_OK) {
        return status;
    }
    if (!view.run.has_results || strcmp(view.run.state, "done") != 0) {
        return error_set(f->err, ORR_EINVAL, "run %" PRId64 " is %s; only one that is done has a time for a step",
                         view.run.id, view.run.state);
    }
    uint64_t steps = view.run.steps == 0 ? 1 : view.run.steps;
    machine->run = view.run.id;
    machine->step_ns = view.run.total_ns / steps + (view.run.total_ns % steps >= steps - steps / 2 ? 1 : 0);
    if (view.run.steps == 0) {
        status =
            notes_add(f->notes, f->err,
                      "run %" PRId64 " does not know how many steps it is of: all of it counts as one", view.run.id);
    }
    if (asked->what != NULL || status != ORR_OK) {
        return status;
    }
    machine->title = view.run.topology[0] == '\0' ? "machine" : view.run.topology;
    status = topology_of(f, &view, &topology);
    if (status == ORR_OK && topology != NULL) {
        return count_file(f, topology, &machine->count);
    }
    machine->count.gpus = view.run.world;
    return status != ORR_OK ? status
                            : notes_add(f->notes, f->err,
                                        "run %" PRId64 " has no wired topology: GPUs, servers and NICs are counted, "
                                        "switches and cables are not",
                                        view.run.id);
}

enum orr_status cost_machine_find(const struct orr_cost_machine *asked, struct lab_store *store, struct arena *arena,
                                  struct notes *notes, struct cost_machine *machine, struct orr_error *err)
{
    struct finding f = {.arena = arena, .notes = notes, .err = err};
    struct cost_machine made = {.title = asked->what == NULL ? "machine" : asked->what};
    enum orr_status status = ORR_OK;
    if (asked->run != ORR_COST_NO_RUN) {
        status = cost_machine_read_run(&f, store, asked, &made);
    } else if (asked->what == NULL) {
        status = count_by_hand(&f, &asked->counts, &made.count);
    }
    if (status == ORR_OK && asked->what != NULL) {
        status = count_wired(&f, asked->what, &made.count);
    }
    if (status == ORR_OK && made.count.gpus == 0) {
        status = error_set(err, ORR_EINVAL, "%s: a machine without GPUs", made.title);
    }
    if (status == ORR_OK) {
        made.step_ns = asked->step_ns != 0 ? asked->step_ns : made.step_ns;
        *machine = made;
    }
    return status;
}
