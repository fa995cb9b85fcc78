/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the public project's arithmetic went wrong (spec rocm F2: whole traces against single steps; simulated times
 * that are the measured ones by construction), our own rows are computed right: cycles of one step, times without any
 * alpha, errors against what was measured. Rows that came from elsewhere are left as they are.
 */
#include "lab/store/metrics_store.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/hash.h"
#include "io/outfile.h"
#include "lab/store/read.h"
#include "report/number.h"

/* Below this the project does not compare times. */
static const double smallest_ms = 0.01;

struct making {
    struct arena *arena;
    struct metrics_row *row;
    bool refused;
};

static void store_metrics_store_set(struct making *m, enum metrics_column column, const char *text)
{
    const char *copy = text == NULL || text[0] == '\0' ? "" : arena_strndup(m->arena, text, strlen(text));
    m->refused = m->refused || copy == NULL;
    m->row->cells[column] = copy == NULL ? "" : copy;
}

static void set_real(struct making *m, enum metrics_column column, double value, int decimals)
{
    store_metrics_store_set(m, column, isfinite(value) ? report_fixed(value, decimals).text : "");
}

static const char *store_metrics_store_setting_of(const struct store_view *view, const char *key)
{
    for (uint32_t i = 0; view != NULL && i < view->setting_count; i++) {
        if (strcmp(view->settings[i].key, key) == 0) {
            return view->settings[i].value;
        }
    }
    return "";
}

/* ---- a row of our own ---- */

static double store_metrics_store_error_of(double simulated, double measured)
{
    return measured >= smallest_ms ? fabs(simulated - measured) / measured : (double)NAN;
}

static double first_known(double a, double b)
{
    return isnan(a) ? b : a;
}

/* Milliseconds of one step. */
static double step_ms(const struct store_view *view, uint64_t ns)
{
    const struct store_run *run = view == NULL ? NULL : &view->run;
    if (run == NULL || !run->has_results) {
        return (double)NAN;
    }
    return (double)ns / (double)(run->steps > 0 ? run->steps : 1) / 1e6;
}

static void set_times(struct making *m, const struct store_view *view, const struct store_calibration *calibration)
{
    const struct store_run *run = view == NULL ? NULL : &view->run;
    double sim_step = step_ms(view, run == NULL ? 0 : run->total_ns);
    double sim_comm = step_ms(view, run == NULL ? 0 : run->comm_ns);
    double sim_gpu = step_ms(view, run == NULL ? 0 : run->compute_ns);
    double real_step = (double)NAN;
    double real_comm = (double)NAN;
    double by_alpha = (double)NAN;
    if (calibration != NULL) {
        sim_step = first_known(calibration->sim_step_ms, sim_step);
        sim_comm = first_known(calibration->sim_comm_ms, sim_comm);
        sim_gpu = first_known(calibration->sim_gpu_ms, sim_gpu);
        real_step = calibration->real_step_ms;
        real_comm = calibration->real_comm_ms;
        by_alpha = sim_comm * 1e6 * calibration->alpha_comm_us / 1e3;
        set_real(m, METRICS_ALPHA_US, calibration->alpha_us, 9);
        set_real(m, METRICS_ALPHA_COMM_US, calibration->alpha_comm_us, 9);
        set_real(m, METRICS_ALPHA_GPU_US, calibration->alpha_gpu_us, 9);
        set_real(m, METRICS_REAL_T_STEP_MS, real_step, 6);
        set_real(m, METRICS_REAL_T_COMM_MS, real_comm, 6);
        set_real(m, METRICS_REAL_T_NET_COMM_MS, real_comm, 6);
        set_real(m, METRICS_REAL_T_KERNEL_MS, calibration->real_kernel_ms, 6);
    }
    set_real(m, METRICS_SIM_CYCLES_STEP, sim_step * 1e6, 0);
    set_real(m, METRICS_SIM_CYCLES_COMM, sim_comm * 1e6, 0);
    set_real(m, METRICS_SIM_CYCLES_GPU, sim_gpu * 1e6, 0);
    set_real(m, METRICS_SIM_T_STEP_MS, sim_step, 6);
    set_real(m, METRICS_SIM_T_COMM_MS, sim_comm, 6);
    set_real(m, METRICS_NS3_COMM_MS, sim_comm, 6);
    set_real(m, METRICS_SIM_T_COMM_MS_COMM, by_alpha, 6);
    set_real(m, METRICS_REL_ERR_STEP, store_metrics_store_error_of(sim_step, real_step), 6);
    set_real(m, METRICS_REL_ERR_COMM, store_metrics_store_error_of(sim_comm, real_comm), 6);
    set_real(m, METRICS_NS3_REL_ERR_COMM, store_metrics_store_error_of(sim_comm, real_comm), 6);
    set_real(m, METRICS_REL_ERR_COMM_COMM, store_metrics_store_error_of(by_alpha, real_comm), 6);
}

static const char *flags_of(const struct store_view *view, const struct store_calibration *calibration)
{
    if (calibration != NULL && calibration->flags[0] != '\0') {
        return calibration->flags;
    }
    if (view == NULL || !view->run.has_results || view->run.total_ns == 0 || view->run.comm_ns != view->run.total_ns) {
        return "";
    }
    return view->run.compute_ns == 0 ? "comm_equals_wall_no_compute" : "comm_equals_wall";
}

/* The folder of the results; of runs that keep none, the one they were started in. */
static void set_folder(struct making *m, const struct store_view *view)
{
    const char *results = store_metrics_store_setting_of(view, "run_dir");
    bool below = results[0] != '\0' && results[0] != '/';
    const char *whole = below ? arena_printf(m->arena, "%s/%s", view->run.folder, results) : NULL;
    m->refused = m->refused || (below && whole == NULL);
    store_metrics_store_set(m, METRICS_RUN_DIR, below ? whole : results[0] != '\0' ? results : view->run.folder);
}

static void make_row(struct making *m, const struct store_view *view, const struct store_calibration *calibration)
{
    static const enum metrics_column from_settings[] = {METRICS_QCN,     METRICS_PFC_DYN,  METRICS_BUFFER,
                                                        METRICS_PAYLOAD, METRICS_COLL_OPT, METRICS_LMBW};
    const struct store_run *run = view == NULL ? NULL : &view->run;
    uint64_t world = run != NULL ? run->world : calibration != NULL ? calibration->world : 0;
    store_metrics_store_set(m, METRICS_MODE, calibration != NULL ? "calibrate" : "simulate");
    store_metrics_store_set(m, METRICS_TAG,
                            run != NULL && run->tag[0] != '\0' ? run->tag
                            : calibration != NULL              ? calibration->tag
                                                               : "");
    store_metrics_store_set(m, METRICS_WORLD, report_count(world).text);
    if (run != NULL) {
        store_metrics_store_set(m, METRICS_CALIB_ID, run->fingerprint);
        store_metrics_store_set(m, METRICS_LOGICAL_DIMS, run->dims);
        set_folder(m, view);
    }
    store_metrics_store_set(m, METRICS_TOPO_DESC,
                            run != NULL && run->topology[0] != '\0' ? run->topology
                            : calibration != NULL                   ? calibration->topology
                                                                    : "");
    for (size_t i = 0; i < sizeof from_settings / sizeof from_settings[0]; i++) {
        store_metrics_store_set(m, from_settings[i],
                                store_metrics_store_setting_of(view, metrics_column_name(from_settings[i])));
    }
    set_times(m, view, calibration);
    store_metrics_store_set(m, METRICS_FLAGS, flags_of(view, calibration));
}

static bool is_imported(const struct store_view *view)
{
    return view != NULL && strcmp(view->run.kind, "import") == 0;
}

/* The row of a run, of a calibration, or of both; either may be NULL. Cells live in the arena or in the arguments. */
static enum orr_status metrics_row_of(const struct store_view *view, const struct store_calibration *calibration,
                                      struct arena *arena, struct metrics_row *row, struct orr_error *err)
{
    struct making m = {.arena = arena, .row = row};
    *row = (struct metrics_row){.line = 0};
    for (enum metrics_column i = 0; i < METRICS_COLUMN_COUNT; i++) {
        row->cells[i] = is_imported(view) ? store_metrics_store_setting_of(view, metrics_column_name(i)) : "";
    }
    if (!is_imported(view)) {
        make_row(&m, view, calibration);
    }
    return m.refused ? mem_error(arena->mem, "a row of a table", err) : ORR_OK;
}

/* ---- entering ---- */

struct entering {
    struct lab_store *store;
    const char *path;
    struct io_statement *find, *insert, *setting;
    struct orr_store_imported *imported;
    struct orr_error *err;
};

static enum orr_status fingerprint_of(const struct metrics_row *row, char text[IO_HASH_TEXT], struct orr_error *err)
{
    struct io_hash *hash = NULL;
    enum orr_status status = io_hash_open(&hash, err);
    if (status != ORR_OK) {
        return status;
    }
    io_hash_text(hash, "metrics.csv");
    for (enum metrics_column i = 0; i < METRICS_COLUMN_COUNT; i++) {
        if (metrics_column_is_key(i)) {
            io_hash_text(hash, row->cells[i]);
        }
    }
    io_hash_result(hash, text);
    io_hash_close(hash);
    return ORR_OK;
}

/* Cells were checked to be whole and below 2^63. */
static int64_t cycles(const struct metrics_row *row, enum metrics_column column)
{
    double value = metrics_number(row, column);
    return isnan(value) ? 0 : (int64_t)value;
}

static int64_t step_cycles(const struct metrics_row *row)
{
    double alpha = metrics_number(row, METRICS_ALPHA_US);
    double made = metrics_number(row, METRICS_REAL_T_STEP_MS) * 1e3 / alpha;
    if (!isnan(metrics_number(row, METRICS_SIM_CYCLES_STEP))) {
        return cycles(row, METRICS_SIM_CYCLES_STEP);
    }
    return made >= 0 && made < 9e18 ? (int64_t)made : 0;
}

/* A run of ours that was exported comes back with its fingerprint as calib_id. The statement already passes over rows
 * of the same experiment with other cycles or another alpha, of which a long history has many. */
static enum orr_status store_metrics_store_is_known(struct entering *e, const struct metrics_row *row,
                                                    const char *fingerprint, bool *known)
{
    bool more = true;
    double alpha = metrics_number(row, METRICS_ALPHA_US);
    enum orr_status status = ORR_OK;
    *known = false;
    io_bind_text(e->find, 1, fingerprint);
    io_bind_text(e->find, 2, row->cells[METRICS_CALIB_ID]);
    io_bind_int(e->find, 3, step_cycles(row));
    if (!isnan(alpha)) {
        io_bind_real(e->find, 4, alpha);
    }
    while (status == ORR_OK && more && !*known) {
        status = io_statement_step(e->find, &more, e->err);
        if (status != ORR_OK || !more) {
            break;
        }
        struct mem mem = {0};
        struct arena arena;
        struct store_view view;
        struct metrics_row there;
        arena_init(&arena, &mem);
        status = store_read_view(e->store, io_column_int(e->find, 0), 0, &arena, &view, e->err);
        uint32_t calibrations = status == ORR_OK ? view.calibration_count : 0;
        for (uint32_t i = 0; status == ORR_OK && !*known && i <= calibrations; i++) {
            status = metrics_row_of(&view, i == 0 ? NULL : &view.calibrations[i - 1], &arena, &there, e->err);
            *known = status == ORR_OK && metrics_same_numbers(row, &there) &&
                     strcmp(row->cells[METRICS_TAG], there.cells[METRICS_TAG]) == 0;
        }
        arena_free(&arena);
    }
    io_statement_reset(e->find);
    return status;
}

static const char *store_metrics_store_or_null(const char *text)
{
    return text[0] == '\0' ? NULL : text;
}

static enum orr_status enter_run(struct entering *e, const struct metrics_row *row, const char *fingerprint,
                                 int64_t *run)
{
    io_bind_text(e->insert, 1, orr_version());
    io_bind_text(e->insert, 2, store_metrics_store_or_null(row->cells[METRICS_TAG]));
    io_bind_text(e->insert, 3, store_metrics_store_or_null(row->cells[METRICS_TOPO_DESC]));
    io_bind_text(e->insert, 4, store_metrics_store_or_null(row->cells[METRICS_LOGICAL_DIMS]));
    io_bind_text(e->insert, 5, fingerprint);
    io_bind_int(e->insert, 6, cycles(row, METRICS_WORLD));
    io_bind_int(e->insert, 7, step_cycles(row));
    io_bind_int(e->insert, 8, cycles(row, METRICS_SIM_CYCLES_COMM));
    io_bind_int(e->insert, 9, cycles(row, METRICS_SIM_CYCLES_GPU));
    io_bind_text(e->insert, 10, row->network);
    enum orr_status status = io_statement_run(e->insert, e->err);
    *run = io_database_last_id(lab_store_database(e->store));
    return status;
}

static enum orr_status enter_setting(struct entering *e, int64_t run, const char *key, const char *value)
{
    if (value[0] == '\0') {
        return ORR_OK;
    }
    io_bind_int(e->setting, 1, run);
    io_bind_text(e->setting, 2, key);
    io_bind_text(e->setting, 3, value);
    return io_statement_run(e->setting, e->err);
}

static enum orr_status enter_settings(struct entering *e, const struct metrics_row *row, int64_t run)
{
    char from[32];
    enum orr_status status = enter_setting(e, run, "imported-from", e->path);
    (void)snprintf(from, sizeof from, "%" PRIu64, row->line);
    status = status != ORR_OK ? status : enter_setting(e, run, "imported-line", from);
    for (enum metrics_column i = 0; status == ORR_OK && i < METRICS_COLUMN_COUNT; i++) {
        status = enter_setting(e, run, metrics_column_name(i), row->cells[i]);
    }
    for (uint32_t i = 0; status == ORR_OK && i < row->extra_count; i++) {
        status = enter_setting(e, run, row->extras[i].name, row->extras[i].cell);
    }
    return status;
}

static enum orr_status enter_calibration(struct entering *e, const struct metrics_row *row, int64_t run)
{
    double samples = metrics_extra_number(row, "sample_count");
    const struct lab_calibration calibration = {
        .run = run,
        .tag = store_metrics_store_or_null(row->cells[METRICS_TAG]),
        .topology = store_metrics_store_or_null(row->cells[METRICS_TOPO_DESC]),
        .source = "import",
        .flags = store_metrics_store_or_null(row->cells[METRICS_FLAGS]),
        .notes = metrics_extra(row, "notes"),
        .alpha_us = metrics_number(row, METRICS_ALPHA_US),
        .alpha_comm_us = metrics_number(row, METRICS_ALPHA_COMM_US),
        .alpha_gpu_us = metrics_number(row, METRICS_ALPHA_GPU_US),
        .real_step_ms = metrics_number(row, METRICS_REAL_T_STEP_MS),
        .real_comm_ms =
            first_known(metrics_number(row, METRICS_REAL_T_NET_COMM_MS), metrics_number(row, METRICS_REAL_T_COMM_MS)),
        .real_kernel_ms = metrics_number(row, METRICS_REAL_T_KERNEL_MS),
        .sim_step_ms = metrics_number(row, METRICS_SIM_CYCLES_STEP) / 1e6,
        .sim_comm_ms = metrics_number(row, METRICS_SIM_CYCLES_COMM) / 1e6,
        .sim_gpu_ms = metrics_number(row, METRICS_SIM_CYCLES_GPU) / 1e6,
        .lower_bound_ms = (double)NAN,
        .iqr = metrics_extra_number(row, "IQR"),
        .samples = samples > 0 && samples < 1e9 ? (uint64_t)samples : 0,
        .world = (uint32_t)cycles(row, METRICS_WORLD),
        .accepted = metrics_extra_number(row, "accepted_flag") > 0,
    };
    int64_t id = 0;
    e->imported->calibrations++;
    return lab_store_calibrate(e->store, &calibration, &id, e->err);
}

static enum orr_status enter_row(struct entering *e, const struct metrics_row *row)
{
    char fingerprint[IO_HASH_TEXT];
    bool known = false;
    int64_t run = 0;
    enum orr_status status = fingerprint_of(row, fingerprint, e->err);
    status = status != ORR_OK ? status : store_metrics_store_is_known(e, row, fingerprint, &known);
    if (status != ORR_OK || known) {
        e->imported->known += known ? 1 : 0;
        return status;
    }
    status = enter_run(e, row, fingerprint, &run);
    status = status != ORR_OK ? status : enter_settings(e, row, run);
    e->imported->runs++;
    return status != ORR_OK || isnan(metrics_number(row, METRICS_ALPHA_US)) ? status : enter_calibration(e, row, run);
}

static enum orr_status prepare_all(struct entering *e)
{
    struct io_database *database = lab_store_database(e->store);
    enum orr_status status = io_statement_prepare(
        database,
        "SELECT id FROM run WHERE state = 'done' AND ((fingerprint = ?2 AND kind <> 'import') OR (fingerprint = ?1"
        " AND abs(total_ns - ?3) <= 1 + 0.0001 * max(total_ns, ?3) AND (?4 IS NULL OR EXISTS (SELECT 1 FROM setting"
        " WHERE run = run.id AND key = 'alpha_us' AND abs(value - ?4) <= 0.000001 + 0.0001 * max(value + 0, ?4)))))",
        &e->find, e->err);
    if (status == ORR_OK) {
        status = io_statement_prepare(
            database,
            "INSERT INTO run (state, kind, ended, version, tag, topology, logical_dims, fingerprint, seed, world,"
            " source_world, total_ns, steps, comm_ns, compute_ns, backend) VALUES ('done', 'import',"
            " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3, ?4, ?5, 0, ?6, ?6, ?7, 0, ?8, ?9, ?10)",
            &e->insert, e->err);
    }
    if (status == ORR_OK) {
        status =
            io_statement_prepare(database, "INSERT OR IGNORE INTO setting VALUES (?1, ?2, ?3)", &e->setting, e->err);
    }
    return status;
}

enum orr_status metrics_enter(struct lab_store *store, const char *path, const struct metrics_row *rows, uint32_t count,
                              struct orr_store_imported *imported, struct orr_error *err)
{
    struct entering e = {.store = store, .path = path, .imported = imported, .err = err};
    enum orr_status status = io_database_begin(lab_store_database(store), err);
    if (status != ORR_OK) {
        return status;
    }
    status = prepare_all(&e);
    for (uint32_t i = 0; status == ORR_OK && i < count; i++) {
        status = enter_row(&e, &rows[i]);
    }
    io_statement_free(e.find);
    io_statement_free(e.insert);
    io_statement_free(e.setting);
    status = status != ORR_OK ? status : io_database_commit(lab_store_database(store), err);
    if (status != ORR_OK) {
        io_database_rollback(lab_store_database(store));
    }
    return status;
}

/* ---- exporting ---- */

struct exporting {
    struct lab_store *store;
    enum metrics_order order;
    FILE *stream;
    uint64_t rows;
};

static enum orr_status export_row(struct exporting *x, int64_t run, const struct store_calibration *calibration,
                                  struct orr_error *err)
{
    struct mem mem = {0};
    struct arena arena;
    struct store_view view;
    struct metrics_row row;
    arena_init(&arena, &mem);
    enum orr_status status = run == 0 ? ORR_OK : store_read_view(x->store, run, 0, &arena, &view, err);
    if (status == ORR_OK && calibration == NULL && run != 0 && view.calibration_count > 0) {
        calibration = &view.calibrations[view.calibration_count - 1];
    }
    status = status != ORR_OK ? status : metrics_row_of(run == 0 ? NULL : &view, calibration, &arena, &row, err);
    if (status == ORR_OK) {
        metrics_write_row(&row, x->order, x->stream);
        x->rows++;
    }
    arena_free(&arena);
    return status;
}

static enum orr_status export_calibration(void *context, const struct store_calibration *row, struct orr_error *err)
{
    return export_row(context, row->run, row, err);
}

static enum orr_status export_runs(struct exporting *x, struct orr_error *err)
{
    struct io_statement *statement = NULL;
    bool more = true;
    enum orr_status status = io_statement_prepare(
        lab_store_database(x->store), "SELECT id FROM run WHERE state = 'done' ORDER BY id", &statement, err);
    while (status == ORR_OK && more) {
        status = io_statement_step(statement, &more, err);
        if (status == ORR_OK && more) {
            status = export_row(x, io_column_int(statement, 0), NULL, err);
        }
    }
    io_statement_free(statement);
    return status;
}

/* The word for the header: of one run, or of all that are done. */
static enum orr_status network_of(struct lab_store *store, int64_t run, char word[16], struct orr_error *err)
{
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status = io_statement_prepare(
        lab_store_database(store),
        "SELECT count(DISTINCT name), min(name) FROM (SELECT coalesce(nullif(backend, 'packet'), 'ns3') AS name"
        " FROM run WHERE state = 'done' AND (?1 = 0 OR id = ?1))",
        &statement, err);
    if (status == ORR_OK) {
        io_bind_int(statement, 1, run);
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK) {
        int64_t kinds = row ? io_column_int(statement, 0) : 0;
        (void)snprintf(word, 16, "%s", kinds == 0 ? "ns3" : kinds > 1 ? "net" : io_column_text(statement, 1));
    }
    io_statement_free(statement);
    return status;
}

enum orr_status metrics_export(struct lab_store *store, enum metrics_order order, FILE *stream, uint64_t *rows,
                               struct orr_error *err)
{
    struct exporting x = {.store = store, .order = order, .stream = stream};
    char network[16];
    enum orr_status status = network_of(store, 0, network, err);
    if (status != ORR_OK) {
        return status;
    }
    metrics_write_header(order, network, stream);
    status = order == METRICS_ORDER_METRICS ? export_runs(&x, err)
                                            : store_read_calibrations(store, 0, export_calibration, &x, err);
    if (status == ORR_OK) {
        *rows = x.rows;
    }
    return status;
}

static enum orr_status put_run(struct lab_store *store, int64_t run, FILE *stream, struct orr_error *err)
{
    struct exporting x = {.store = store, .order = METRICS_ORDER_METRICS, .stream = stream};
    char network[16];
    enum orr_status status = network_of(store, run, network, err);
    if (status == ORR_OK) {
        metrics_write_header(x.order, network, stream);
        status = export_row(&x, run, NULL, err);
    }
    return status;
}

/* `run` 0: the table of calibrations. */
static enum orr_status keep_table(struct lab_store *store, int64_t run, const char *folder, const char *name,
                                  struct orr_error *err)
{
    char path[PATH_MAX];
    struct io_outfile *file = NULL;
    uint64_t rows = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        return error_set(err, ORR_EIO, "%s/%s: the name is too long", folder, name);
    }
    enum orr_status status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    if (status != ORR_OK) {
        return status;
    }
    status = run == 0 ? metrics_export(store, METRICS_ORDER_CALIBRATION, io_outfile_stream(file), &rows, err)
                      : put_run(store, run, io_outfile_stream(file), err);
    return io_outfile_end(file, status, err);
}

enum orr_status metrics_keep(struct lab_store *store, int64_t run, const char *folder, struct orr_error *err)
{
    enum orr_status status = keep_table(store, run, folder, "metrics.csv", err);
    return status != ORR_OK ? status : keep_table(store, 0, folder, "calibration_all.csv", err);
}
