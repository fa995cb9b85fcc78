/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each table has one function that turns the current row of its statement into a struct; counting rows first would need
 * a second statement, so arrays grow by doubling inside the arena, which gives all of it back at once.
 */
#include "lab/store/read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lab/store/inputs.h"

struct reading {
    struct lab_store *store;
    struct arena *arena;
    struct orr_error *err;
    bool refused; /* memory */
};

/* ---- columns ---- */

static const char *store_read_text(struct reading *r, const struct io_statement *statement, int at)
{
    const char *value = io_column_text(statement, at);
    const char *copy = value[0] == '\0' ? "" : arena_strndup(r->arena, value, strlen(value));
    r->refused = r->refused || copy == NULL;
    return copy == NULL ? "" : copy;
}

/* The tables hold no negative numbers unless a user wrote them. */
static uint64_t store_read_count(const struct io_statement *statement, int at)
{
    int64_t value = io_column_int(statement, at);
    return value < 0 ? 0 : (uint64_t)value;
}

static double real(const struct io_statement *statement, int at)
{
    return io_column_is_null(statement, at) ? (double)NAN : io_column_real(statement, at);
}

/* Room for one more in an array of the arena; NULL when memory is refused. */
static void *store_read_grow(struct reading *r, void *items, uint32_t used, uint32_t *capacity, size_t bytes)
{
    if (used < *capacity) {
        return items;
    }
    uint32_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    void *more = wanted < *capacity ? NULL : arena_alloc(r->arena, wanted * bytes);
    if (more == NULL) {
        r->refused = true;
        return NULL;
    }
    if (used > 0) {
        memcpy(more, items, used * bytes);
    }
    *capacity = wanted;
    return more;
}

static enum orr_status store_read_prepare(struct reading *r, const char *sql, int64_t run,
                                          struct io_statement **statement)
{
    enum orr_status status = io_statement_prepare(lab_store_database(r->store), sql, statement, r->err);
    if (status == ORR_OK && run != 0) {
        io_bind_int(*statement, 1, run);
    }
    return status;
}

static enum orr_status store_read_end(struct reading *r, struct io_statement *statement, enum orr_status status)
{
    io_statement_free(statement);
    if (status == ORR_OK && r->refused) {
        return mem_error(r->arena->mem, "what the store holds", r->err);
    }
    return status;
}

/* ---- runs ---- */

#define RUN_COLUMNS                                                                                                    \
    "id, state, kind, started, ended, version, command, folder, tag, backend, topology, logical_dims, comm_scale,"     \
    " fingerprint, error, seed, world, source_world, total_ns, steps, comm_ns, compute_ns, wall_ms, events, messages," \
    " peak_bytes"

static struct store_run store_read_run(struct reading *r, const struct io_statement *row)
{
    return (struct store_run){
        .id = io_column_int(row, 0),
        .state = store_read_text(r, row, 1),
        .kind = store_read_text(r, row, 2),
        .started = store_read_text(r, row, 3),
        .ended = store_read_text(r, row, 4),
        .version = store_read_text(r, row, 5),
        .command = store_read_text(r, row, 6),
        .folder = store_read_text(r, row, 7),
        .tag = store_read_text(r, row, 8),
        .backend = store_read_text(r, row, 9),
        .topology = store_read_text(r, row, 10),
        .dims = store_read_text(r, row, 11),
        .comm_scale = store_read_text(r, row, 12),
        .fingerprint = store_read_text(r, row, 13),
        .error = store_read_text(r, row, 14),
        .seed = store_read_count(row, 15),
        .world = store_read_count(row, 16),
        .source_world = store_read_count(row, 17),
        .has_results = !io_column_is_null(row, 18),
        .total_ns = store_read_count(row, 18),
        .steps = store_read_count(row, 19),
        .comm_ns = store_read_count(row, 20),
        .compute_ns = store_read_count(row, 21),
        .wall_ms = store_read_count(row, 22),
        .events = store_read_count(row, 23),
        .messages = store_read_count(row, 24),
        .peak_bytes = store_read_count(row, 25),
    };
}

static enum orr_status check_word(const char *what, const char *word, const char *const *known, struct orr_error *err)
{
    for (size_t i = 0; word != NULL && known[i] != NULL; i++) {
        if (strcmp(known[i], word) == 0) {
            return ORR_OK;
        }
    }
    if (word == NULL) {
        return ORR_OK;
    }
    return error_unknown(what, word, known, err);
}

static enum orr_status check_filter(const struct orr_store_filter *filter, struct orr_error *err)
{
    static const char *const states[] = {
#define LAB_X(name, word) word,
        LAB_RUN_STATES(LAB_X)
#undef LAB_X
            NULL};
    static const char *const backends[] = {"unaware", "aware", "packet", "flow", "auto", NULL};
    enum orr_status status = check_word("state", filter->state, states, err);
    return status != ORR_OK ? status : check_word("backend", filter->backend, backends, err);
}

enum orr_status store_read_list(struct lab_store *store, const struct orr_store_filter *filter, struct arena *arena,
                                struct store_run **runs, uint32_t *run_count, struct orr_error *err)
{
    struct reading r = {.store = store, .arena = arena, .err = err};
    struct io_statement *statement = NULL;
    struct store_run *found = NULL;
    uint32_t used = 0;
    uint32_t capacity = 0;
    enum orr_status status = check_filter(filter, err);
    if (status == ORR_OK) {
        status = store_read_prepare(&r,
                                    "SELECT * FROM (SELECT " RUN_COLUMNS
                                    " FROM run WHERE (?1 IS NULL OR tag = ?1) AND (?2 IS NULL OR state = ?2)"
                                    " AND (?3 IS NULL OR backend = ?3) AND (?4 IS NULL OR kind = ?4)"
                                    " ORDER BY id DESC LIMIT ?5) ORDER BY id",
                                    0, &statement);
    }
    bool row = status == ORR_OK;
    if (status == ORR_OK) {
        io_bind_text(statement, 1, filter->tag);
        io_bind_text(statement, 2, filter->state);
        io_bind_text(statement, 3, filter->backend);
        io_bind_text(statement, 4, filter->kind);
        io_bind_int(statement, 5, filter->newest == 0 || filter->newest > INT64_MAX ? -1 : (int64_t)filter->newest);
    }
    while (status == ORR_OK && row && !r.refused) {
        status = io_statement_step(statement, &row, err);
        if (status == ORR_OK && row) {
            struct store_run *room = store_read_grow(&r, found, used, &capacity, sizeof *found);
            if (room != NULL) {
                found = room;
                found[used++] = store_read_run(&r, statement);
            }
        }
    }
    status = store_read_end(&r, statement, status);
    if (status == ORR_OK) {
        *runs = found;
        *run_count = used;
    }
    return status;
}

enum orr_status store_read_newest(struct lab_store *store, int64_t *run, struct orr_error *err)
{
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status =
        io_statement_prepare(lab_store_database(store), "SELECT max(id) FROM run", &statement, err);
    if (status == ORR_OK) {
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK) {
        *run = row ? io_column_int(statement, 0) : 0;
    }
    io_statement_free(statement);
    return status;
}

static enum orr_status find_run(struct reading *r, int64_t run, struct store_run *found)
{
    struct io_statement *statement = NULL;
    int64_t newest = 0;
    bool row = false;
    const char *path = io_database_path(lab_store_database(r->store));
    enum orr_status status = store_read_newest(r->store, &newest, r->err);
    if (status == ORR_OK && newest == 0) {
        return error_set(r->err, ORR_EINVAL, "%s: there are no runs in it", path);
    }
    if (status == ORR_OK) {
        status =
            store_read_prepare(r, "SELECT " RUN_COLUMNS " FROM run WHERE id = ?1", run == 0 ? newest : run, &statement);
    }
    if (status == ORR_OK) {
        status = io_statement_step(statement, &row, r->err);
    }
    if (status == ORR_OK && row) {
        *found = store_read_run(r, statement);
    } else if (status == ORR_OK) {
        status =
            error_set(r->err, ORR_EINVAL, "%s: there is no run %" PRId64 "; the newest is %" PRId64, path, run, newest);
    }
    return store_read_end(r, statement, status);
}

/* ---- what belongs to a run ---- */

static enum orr_status read_inputs(struct reading *r, struct store_view *view)
{
    struct io_statement *statement = NULL;
    struct store_input *found = NULL;
    uint32_t capacity = 0;
    bool row = true;
    enum orr_status status = store_read_prepare(
        r, "SELECT role, path, hash, bytes FROM input WHERE run = ?1 ORDER BY rowid", view->run.id, &statement);
    while (status == ORR_OK && row && !r->refused) {
        status = io_statement_step(statement, &row, r->err);
        struct store_input *room =
            status == ORR_OK && row ? store_read_grow(r, found, view->input_count, &capacity, sizeof *found) : NULL;
        if (room != NULL) {
            found = room;
            found[view->input_count++] = (struct store_input){.role = store_read_text(r, statement, 0),
                                                              .path = store_read_text(r, statement, 1),
                                                              .hash = store_read_text(r, statement, 2),
                                                              .bytes = store_read_count(statement, 3)};
        }
    }
    view->inputs = found;
    return store_read_end(r, statement, status);
}

static enum orr_status read_settings(struct reading *r, struct store_view *view)
{
    struct io_statement *statement = NULL;
    struct store_setting *found = NULL;
    uint32_t capacity = 0;
    bool row = true;
    enum orr_status status =
        store_read_prepare(r, "SELECT key, value FROM setting WHERE run = ?1 ORDER BY key", view->run.id, &statement);
    while (status == ORR_OK && row && !r->refused) {
        status = io_statement_step(statement, &row, r->err);
        struct store_setting *room =
            status == ORR_OK && row ? store_read_grow(r, found, view->setting_count, &capacity, sizeof *found) : NULL;
        if (room != NULL) {
            found = room;
            found[view->setting_count++] = (struct store_setting){.key = store_read_text(r, statement, 0),
                                                                  .value = store_read_text(r, statement, 1)};
        }
    }
    view->settings = found;
    return store_read_end(r, statement, status);
}

static enum orr_status read_collectives(struct reading *r, struct store_view *view)
{
    struct io_statement *statement = NULL;
    struct store_collective *found = NULL;
    uint32_t capacity = 0;
    bool row = true;
    enum orr_status status =
        store_read_prepare(r,
                           "SELECT type, group_size, bytes, count, total_ns, min_ns, max_ns FROM collective"
                           " WHERE run = ?1 ORDER BY type, group_size, bytes",
                           view->run.id, &statement);
    while (status == ORR_OK && row && !r->refused) {
        status = io_statement_step(statement, &row, r->err);
        struct store_collective *room =
            status == ORR_OK && row ? store_read_grow(r, found, view->collective_count, &capacity, sizeof *found)
                                    : NULL;
        if (room != NULL) {
            found = room;
            found[view->collective_count++] = (struct store_collective){.type = store_read_text(r, statement, 0),
                                                                        .group_size = store_read_count(statement, 1),
                                                                        .bytes = store_read_count(statement, 2),
                                                                        .count = store_read_count(statement, 3),
                                                                        .total_ns = store_read_count(statement, 4),
                                                                        .min_ns = store_read_count(statement, 5),
                                                                        .max_ns = store_read_count(statement, 6)};
        }
    }
    view->collectives = found;
    return store_read_end(r, statement, status);
}

/* The median of an even number of ranks is the lower of the middle two: a time that some rank had. */
static enum orr_status read_spread(struct reading *r, const char *column, struct store_view *view,
                                   struct store_spread *spread)
{
    char sql[320];
    struct io_statement *statement = NULL;
    bool row = false;
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*), sum(finished), min(%s), max(%s), (SELECT %s FROM rank WHERE run = ?1 ORDER BY %s"
                   " LIMIT 1 OFFSET (SELECT (count(*) - 1) / 2 FROM rank WHERE run = ?1)) FROM rank WHERE run = ?1",
                   column, column, column, column);
    enum orr_status status = store_read_prepare(r, sql, view->run.id, &statement);
    if (status == ORR_OK) {
        status = io_statement_step(statement, &row, r->err);
    }
    if (status == ORR_OK && row) {
        view->rank_count = store_read_count(statement, 0);
        view->finished_count = store_read_count(statement, 1);
        spread->min_ns = store_read_count(statement, 2);
        spread->max_ns = store_read_count(statement, 3);
        spread->median_ns = store_read_count(statement, 4);
    }
    return store_read_end(r, statement, status);
}

static enum orr_status read_ranks(struct reading *r, struct store_view *view)
{
    static const struct {
        const char *column, *name;
    } columns[STORE_SPREADS] = {{"finish_ns", "finish"},
                                {"compute_ns", "compute"},
                                {"exposed_comm_ns", "exposed comm."},
                                {"exposed_other_ns", "exposed other"},
                                {"idle_ns", "idle"}};
    enum orr_status status = ORR_OK;
    for (int i = 0; status == ORR_OK && i < STORE_SPREADS; i++) {
        view->spreads[i].name = columns[i].name;
        status = read_spread(r, columns[i].column, view, &view->spreads[i]);
    }
    return status;
}

/* ---- calibrations ---- */

#define CALIBRATION_COLUMNS                                                                                            \
    "SELECT id, run, made, version, tag, topology, source, flags, notes, alpha_us, alpha_comm_us, alpha_gpu_us,"       \
    " real_step_ms, real_comm_ms, real_kernel_ms, sim_step_ms, sim_comm_ms, sim_gpu_ms, lower_bound_ms, iqr,"          \
    " samples, steps, world, accepted FROM calibration"

enum orr_status store_read_calibrations(struct lab_store *store, int64_t run,
                                        enum orr_status (*each)(void *context, const struct store_calibration *row,
                                                                struct orr_error *err),
                                        void *context, struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct reading r = {.store = store, .arena = &arena, .err = err};
    struct io_statement *statement = NULL;
    bool more = true;
    arena_init(&arena, &mem);
    enum orr_status status =
        run == 0 ? store_read_prepare(&r, CALIBRATION_COLUMNS " ORDER BY id", 0, &statement)
                 : store_read_prepare(&r, CALIBRATION_COLUMNS " WHERE run = ?1 ORDER BY id", run, &statement);
    while (status == ORR_OK && more && !r.refused) {
        status = io_statement_step(statement, &more, err);
        if (status == ORR_OK && more) {
            const struct store_calibration row = {.id = io_column_int(statement, 0),
                                                  .run = io_column_int(statement, 1),
                                                  .made = store_read_text(&r, statement, 2),
                                                  .version = store_read_text(&r, statement, 3),
                                                  .tag = store_read_text(&r, statement, 4),
                                                  .topology = store_read_text(&r, statement, 5),
                                                  .source = store_read_text(&r, statement, 6),
                                                  .flags = store_read_text(&r, statement, 7),
                                                  .notes = store_read_text(&r, statement, 8),
                                                  .alpha_us = real(statement, 9),
                                                  .alpha_comm_us = real(statement, 10),
                                                  .alpha_gpu_us = real(statement, 11),
                                                  .real_step_ms = real(statement, 12),
                                                  .real_comm_ms = real(statement, 13),
                                                  .real_kernel_ms = real(statement, 14),
                                                  .sim_step_ms = real(statement, 15),
                                                  .sim_comm_ms = real(statement, 16),
                                                  .sim_gpu_ms = real(statement, 17),
                                                  .lower_bound_ms = real(statement, 18),
                                                  .iqr = real(statement, 19),
                                                  .samples = store_read_count(statement, 20),
                                                  .steps = store_read_count(statement, 21),
                                                  .world = store_read_count(statement, 22),
                                                  .accepted = io_column_int(statement, 23) != 0};
            status = r.refused ? ORR_OK : each(context, &row, err);
            arena_free(&arena);
        }
    }
    status = store_read_end(&r, statement, status);
    arena_free(&arena);
    return status;
}

struct keeping {
    struct reading *reading;
    struct store_view *view;
    struct store_calibration *rows;
    uint32_t capacity;
};

static const char *keep_text(struct reading *r, const char *value)
{
    const char *copy = arena_strndup(r->arena, value, strlen(value));
    r->refused = r->refused || copy == NULL;
    return copy == NULL ? "" : copy;
}

static enum orr_status store_read_keep_calibration(void *context, const struct store_calibration *row,
                                                   struct orr_error *err)
{
    struct keeping *keeping = context;
    struct reading *r = keeping->reading;
    struct store_calibration *room =
        store_read_grow(r, keeping->rows, keeping->view->calibration_count, &keeping->capacity, sizeof *room);
    if (room == NULL) {
        return mem_error(r->arena->mem, "what the store holds", err);
    }
    keeping->rows = room;
    struct store_calibration *kept = &room[keeping->view->calibration_count++];
    *kept = *row;
    const char **texts[] = {&kept->made,   &kept->version, &kept->tag,  &kept->topology,
                            &kept->source, &kept->flags,   &kept->notes};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i] = keep_text(r, *texts[i]);
    }
    return ORR_OK;
}

static enum orr_status read_calibrations(struct reading *r, struct store_view *view)
{
    struct keeping keeping = {.reading = r, .view = view};
    enum orr_status status =
        store_read_calibrations(r->store, view->run.id, store_read_keep_calibration, &keeping, r->err);
    view->calibrations = keeping.rows;
    return store_read_end(r, NULL, status);
}

typedef enum orr_status read_part_fn(struct reading *r, struct store_view *view);

enum orr_status store_read_view(struct lab_store *store, int64_t run, unsigned what, struct arena *arena,
                                struct store_view *view, struct orr_error *err)
{
    struct reading r = {.store = store, .arena = arena, .err = err};
    struct store_view made = {.input_count = 0};
    static read_part_fn *const parts[] = {read_inputs, read_settings, read_calibrations, read_ranks, read_collectives};
    size_t part_count = (what & STORE_READ_RESULTS) != 0 ? sizeof parts / sizeof parts[0] : 3;
    enum orr_status status = find_run(&r, run, &made.run);
    for (size_t i = 0; status == ORR_OK && i < part_count; i++) {
        status = parts[i](&r, &made);
    }
    if (status == ORR_OK && (what & STORE_READ_LOOK) != 0) {
        status = store_inputs_look(&made.run, arena, (struct store_input *)made.inputs, made.input_count, err);
    }
    if (status == ORR_OK) {
        *view = made;
    }
    return status;
}
