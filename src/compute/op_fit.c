/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First the physics, because it holds outside of the data; then the field of what it leaves over, because libraries
 * choose kernels by rules that nobody publishes. The constants are found on the logarithm of the time with a loss that
 * grows linearly, so that a few bad measurements do not bend them; few rows keep the constants near where they start.
 */
#include "compute/op_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "compute/op_krige.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

void op_rows_free(struct op_rows *rows)
{
    mem_free(rows->mem, rows->list, rows->capacity * sizeof *rows->list);
    rows->list = NULL;
    rows->count = rows->capacity = 0;
}

enum orr_status op_rows_add(struct op_rows *rows, const struct op_row *row, struct orr_error *err)
{
    if (!mem_reserve(rows->mem, (void **)&rows->list, &rows->capacity, (uint64_t)rows->count + 1, sizeof *rows->list)) {
        return mem_error(rows->mem, "the measurements", err);
    }
    rows->list[rows->count++] = *row;
    return ORR_OK;
}

static int compare_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_set(const struct op_row *a, const struct op_row *b)
{
    int order = compare_number(a->device, b->device);
    order = order != 0 ? order : compare_number(a->stack, b->stack);
    order = order != 0 ? order : compare_number(a->op.kind, b->op.kind);
    return order != 0 ? order : compare_number(a->op.dtype, b->op.dtype);
}

static int compare_row(const void *x, const void *y)
{
    const struct op_row *a = x;
    const struct op_row *b = y;
    int order = compare_set(a, b);
    for (int i = 0; i < ORR_OP_DIMS && order == 0; i++) {
        order = compare_number(a->op.dims[i], b->op.dims[i]);
    }
    order = order != 0 ? order : compare_number(a->op.full, b->op.full);
    return order != 0 ? order : (a->us > b->us) - (a->us < b->us);
}

void op_rows_sort(struct op_rows *rows)
{
    if (rows->count > 1) { /* no rows have no list */
        qsort(rows->list, rows->count, sizeof *rows->list, compare_row);
    }
}

uint32_t op_rows_of_set(const struct op_rows *rows, uint32_t first)
{
    uint32_t last = first;
    while (last < rows->count && compare_set(&rows->list[first], &rows->list[last]) == 0) {
        last++;
    }
    return last - first;
}

uint32_t op_fold_of(const struct orr_op *op, uint32_t folds)
{
    uint64_t hash = 1469598103934665603U;
    for (int i = 0; i < ORR_OP_DIMS; i++) {
        for (int byte = 0; byte < 8; byte++) {
            hash = (hash ^ (op->dims[i] >> (8 * byte) & 0xff)) * 1099511628211U;
        }
    }
    hash ^= hash >> 29;
    return (uint32_t)(hash % folds);
}

/* ---- the constants ------------------------------------------------------------------------------------------------
 */

struct search {
    const struct op_row *rows;
    uint32_t count, step;
    struct op_machine machine;
    const struct op_family_row *family;
    const double *kernels;     /* of calls: us of each row's kernel; else NULL */
    const struct op_set *over; /* that is corrected; or NULL */
    double start[OP_CONSTANTS];
};

static double base_of(const struct search *s, uint32_t row, const double constants[OP_CONSTANTS])
{
    return s->kernels != NULL ? op_call_of(s->kernels[row], constants)
                              : op_base_of(&s->rows[row].op, &s->machine, constants).us;
}

static double compute_op_fit_loss_of(const struct search *s, const double constants[OP_CONSTANTS])
{
    double away = 0;
    for (uint32_t i = 0; i < s->family->count; i++) {
        const struct op_constant *row = &s->family->constants[i];
        if (constants[i] < row->least || constants[i] > row->most) {
            return 1e9;
        }
        double ratio = s->start[i] > 0 && constants[i] > 0 ? log(constants[i] / s->start[i]) : 0;
        away += ratio * ratio;
    }
    double sum = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < s->count; i += s->step, used++) {
        double e = log(s->rows[i].us / base_of(s, i, constants));
        sum += sqrt(e * e + 1e-3);
    }
    return sum / used + 0.02 * away / used;
}

struct vertex {
    double at[OP_CONSTANTS];
    double loss;
};

static struct vertex toward(const struct search *s, const struct vertex *from, const double centre[OP_CONSTANTS],
                            double far)
{
    struct vertex made = *from;
    for (uint32_t i = 0; i < s->family->count; i++) {
        made.at[i] = centre[i] + far * (from->at[i] - centre[i]);
    }
    made.loss = compute_op_fit_loss_of(s, made.at);
    return made;
}

/* Nelder and Mead's simplex. A constant that starts at 0 stays there. */
static void minimise(const struct search *s, double constants[OP_CONSTANTS], int rounds)
{
    uint32_t count = s->family->count;
    struct vertex simplex[OP_CONSTANTS + 1];
    for (uint32_t v = 0; v <= count; v++) {
        memcpy(simplex[v].at, constants, sizeof simplex[v].at);
        if (v > 0) {
            double *moved = &simplex[v].at[v - 1];
            *moved = *moved * 1.15 <= s->family->constants[v - 1].most ? *moved * 1.15 : *moved * 0.85;
        }
        simplex[v].loss = compute_op_fit_loss_of(s, simplex[v].at);
    }
    for (int round = 0; round < rounds; round++) {
        uint32_t worst = 0;
        uint32_t best = 0;
        for (uint32_t v = 1; v <= count; v++) {
            worst = simplex[v].loss > simplex[worst].loss ? v : worst;
            best = simplex[v].loss < simplex[best].loss ? v : best;
        }
        double second = simplex[best].loss;
        double centre[OP_CONSTANTS] = {0};
        for (uint32_t v = 0; v <= count; v++) {
            for (uint32_t i = 0; v != worst && i < count; i++) {
                centre[i] += simplex[v].at[i] / count;
            }
            second = v != worst && simplex[v].loss > second ? simplex[v].loss : second;
        }
        struct vertex mirrored = toward(s, &simplex[worst], centre, -1);
        if (mirrored.loss < simplex[best].loss) {
            struct vertex further = toward(s, &simplex[worst], centre, -2);
            simplex[worst] = further.loss < mirrored.loss ? further : mirrored;
        } else if (mirrored.loss < second) {
            simplex[worst] = mirrored;
        } else {
            struct vertex nearer = toward(s, &simplex[worst], centre, 0.5);
            if (nearer.loss < simplex[worst].loss) {
                simplex[worst] = nearer;
                continue;
            }
            struct vertex hold = simplex[best];
            for (uint32_t v = 0; v <= count; v++) {
                simplex[v] = v == best ? hold : toward(s, &simplex[v], hold.at, 0.5);
            }
        }
    }
    uint32_t best = 0;
    for (uint32_t v = 1; v <= count; v++) {
        best = simplex[v].loss < simplex[best].loss ? v : best;
    }
    memcpy(constants, simplex[best].at, sizeof simplex[best].at);
}

/* Where the search starts: the largest set alike that is fitted already, else the family's own numbers. */
static void start_search(struct search *s, const struct op_set *set, const struct op_sets *sets, double least_us)
{
    const struct op_set *alike = NULL;
    for (uint32_t i = 0; i < sets->count; i++) {
        const struct op_set *other = sets->list[i];
        if (op_set_family(other->stack, other->kind) == op_set_family(set->stack, set->kind) &&
            other->stack == set->stack && other->device == set->device &&
            (alike == NULL || other->rows > alike->rows)) {
            alike = other;
        }
    }
    for (uint32_t i = 0; i < s->family->count; i++) {
        s->start[i] = alike != NULL ? alike->constants[i] : s->family->constants[i].initial;
    }
    /* The host's time shows in the fastest call, unless that one's kernel takes most of it. */
    for (uint32_t row = 0; s->kernels != NULL && row < s->count; row++) {
        if (s->rows[row].us <= least_us && s->kernels[row] < least_us / 2) {
            s->start[s->family->count - 1] = least_us;
        }
    }
}

static double over_of(const struct op_set *over, const struct orr_op *op)
{
    double at[OP_AXES] = {0};
    (void)op_coordinates(op, at);
    return over != NULL ? op_set_place(over, at).residual : 0;
}

/* ---- the field ----------------------------------------------------------------------------------------------------
 */

static void features_of(const struct orr_op *op, double units, struct krige_point *point)
{
    double at[OP_AXES] = {0};
    double *f = point->raw;
    uint32_t count = op_coordinates(op, at);
    memset(f, 0, sizeof point->raw);
    memcpy(f, at, count * sizeof *f);
    point->group = (uint64_t)-1 - op->dims[0]; /* of its own but for equal first dimensions */
    if (op_family_of(op->kind) == OP_FAMILY_GEMM) {
        double m = exp2(at[0]);
        double n = exp2(at[1]);
        double k = exp2(at[2]);
        for (int i = 0; i < 2; i++) {
            double tiles = ceil(m / 128 - 1e-9) * ceil(n / (i == 0 ? 256 : 128) - 1e-9) / units;
            f[4 + i] = tiles / ceil(tiles);
        }
        f[6] = fabs(m / 16 - floor(m / 16 + 0.5)) > 1e-6; /* not a whole number of the smallest tiles */
        f[7] = n < 127.5 || k < 127.5;                    /* less than one block of scales */
        if (count == 5) { /* a convolution: its stride decides the kernel more than whole tiles do */
            f[6] = 4 * at[4];
            f[7] = 0;
        }
        point->group = (uint64_t)(m + 0.5) << 32 | (uint64_t)(n + 0.5);
    } else if (op_family_of(op->kind) == OP_FAMILY_ATTENTION) {
        double batch = at[0];
        double heads = at[2];
        double dim = (double)op->dims[4];
        f[0] = batch + heads;
        f[1] = at[1];
        f[2] = at[4];
        f[3] = heads - log2((double)op->dims[3]);
        f[4] = heads - batch;
        f[5] = dim == 192 || dim == 512;
        f[6] = op->dims[2] == op->dims[3];
        f[7] = op->dims[3] > 8;
        point->group = op->dims[1] << 16 | op->dims[4];
    }
}

static const struct krige_likeness first_likeness[OP_FAMILIES] = {
    [OP_FAMILY_GEMM] = {{4.5, 6, 8, 4, 0.7, 1.3, 8, 1}, 0.01, 0.05, 5},
    [OP_FAMILY_ATTENTION] = {{2.5, 4, 1.3, 9, 12, 0.7, 6, 6}, 0.01, 0.05, 2},
    [OP_FAMILY_STREAM] = {{4, 4, 4, 0, 0, 0, 0, 0}, 0.02, 0.0001, 1},
    [OP_FAMILY_CALL] = {{0}, 0, 0, 0}, /* of the kind's family */
};

static int16_t compute_op_fit_cell_of(double residual, bool is_measured)
{
    double steps = residual * OP_CELL_STEP;
    /* Between measurements four steps are fine enough, and pack better. */
    double rounded = is_measured ? floor(steps + 0.5) : 4 * floor(steps / 4 + 0.5);
    rounded = rounded > 16000 ? 16000 : rounded < -16000 ? -16000 : rounded;
    return (int16_t)((int)rounded * 2 + (is_measured ? 1 : 0));
}

/* The cell whose levels are the row's, or cell_count. */
static uint32_t own_cell(const struct op_set *set, const struct orr_op *op)
{
    double at[OP_AXES] = {0};
    uint32_t cell = 0;
    (void)op_coordinates(op, at);
    for (uint32_t i = 0; i < set->axis_count; i++) {
        const struct op_axis *axis = &set->axes[i];
        uint32_t level = 0;
        while (level < axis->count && fabs(axis->at[level] - at[i]) > 1e-9) {
            level++;
        }
        if (level == axis->count) {
            return set->cell_count;
        }
        cell = cell * axis->count + level;
    }
    return cell;
}

/* Distinct levels of one axis; too many are thinned. */
static void lay_axis(struct op_axis *axis, const struct op_row *rows, uint32_t count, uint32_t which, bool is_kv,
                     double *scratch)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        double at[OP_AXES] = {0};
        (void)op_coordinates(&rows[i].op, at);
        scratch[i] = is_kv ? at[which] : floor(exp2(at[which]) + 0.5);
    }
    numbers_sort(scratch, count);
    for (uint32_t i = 0; i < count; i++) {
        if (distinct == 0 || scratch[i] > scratch[distinct - 1]) {
            scratch[distinct++] = scratch[i];
        }
    }
    uint32_t kept = distinct <= OP_LEVELS ? distinct : OP_LEVELS - 16;
    for (uint32_t i = 0; i < kept; i++) {
        axis->levels[i] = scratch[kept > 1 ? (uint64_t)i * (distinct - 1) / (kept - 1) : 0];
    }
    axis->count = kept;
    if (is_kv) {
        for (uint32_t i = 0; i <= OP_KV_OWN; i++) {
            axis->levels[i] = i;
        }
        axis->count = OP_KV_OWN + 1;
    }
}

/* Adds the levels of another axis, where there is room. */
static void widen_axis(struct op_axis *axis, const struct op_axis *other)
{
    for (uint32_t i = 0; i < other->count && axis->count < OP_LEVELS; i++) {
        uint32_t at = axis->count;
        while (at > 0 && axis->levels[at - 1] > other->levels[i]) {
            at--;
        }
        if (at > 0 && axis->levels[at - 1] >= other->levels[i]) {
            continue;
        }
        memmove(&axis->levels[at + 1], &axis->levels[at], (axis->count - at) * sizeof *axis->levels);
        axis->levels[at] = other->levels[i];
        axis->count++;
    }
}

static void compute_op_fit_lay_grid(struct op_set *set, const struct op_row *rows, uint32_t count,
                                    const struct op_set *over, double *scratch)
{
    bool is_attention = op_family_of(set->kind) == OP_FAMILY_ATTENTION;
    set->axis_count = op_coordinates(&rows[0].op, (double[OP_AXES]){0});
    for (uint32_t i = 0; i < set->axis_count; i++) {
        struct op_axis own = {.count = 0};
        lay_axis(&own, rows, count, i, is_attention && i == OP_KV_AXIS, scratch);
        set->axes[i] = over != NULL ? over->axes[i] : own;
        widen_axis(&set->axes[i], &own);
    }
    while (!op_set_lay(set)) {
        uint32_t widest = 0;
        for (uint32_t i = 1; i < set->axis_count; i++) {
            widest = set->axes[i].count > set->axes[widest].count ? i : widest;
        }
        struct op_axis *axis = &set->axes[widest];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < axis->count; i += 2) {
            axis->levels[kept++] = axis->levels[i];
        }
        axis->count = kept;
    }
}

static void compute_op_fit_fill_grid(struct op_set *set, const struct krige *krige, const struct op_row *rows,
                                     double units, const struct op_set *over, double *sums, double *counts)
{
    const struct orr_op like = {.kind = set->kind, .dtype = set->dtype};
    memset(sums, 0, set->cell_count * sizeof *sums);
    memset(counts, 0, set->cell_count * sizeof *counts);
    for (uint32_t i = 0; i < krige->count; i++) {
        uint32_t cell = own_cell(set, &rows[i].op);
        if (cell < set->cell_count) {
            sums[cell] += krige->points[i].value + over_of(over, &rows[i].op);
            counts[cell] += 1;
        }
    }
    for (uint32_t cell = 0; cell < set->cell_count; cell++) {
        if (counts[cell] > 0) {
            set->cells[cell] = compute_op_fit_cell_of(sums[cell] / counts[cell], true);
            continue;
        }
        double levels[OP_AXES];
        op_set_levels(set, cell, levels);
        struct orr_op op = op_at(&like, levels);
        struct krige_point query = {.value = 0};
        features_of(&op, units, &query);
        for (int f = 0; f < KRIGE_FEATURES; f++) {
            query.x[f] = krige->like.reach[f] > 0 ? query.raw[f] / krige->like.reach[f] : 0;
        }
        set->cells[cell] = compute_op_fit_cell_of(krige_at(krige, &query, krige->count) + over_of(over, &op), false);
    }
}

/* How well each row is known from the others. */
static void measure_errors(struct op_set *set, const struct krige *krige, double *scratch)
{
    for (uint32_t i = 0; i < krige->count; i++) {
        scratch[i] = fabs(exp(krige_at(krige, &krige->points[i], i) - krige->points[i].value) - 1);
    }
    numbers_sort(scratch, krige->count);
    set->median = scratch[krige->count / 2];
    set->p90 = scratch[(uint64_t)krige->count * 9 / 10];
}

struct workspace {
    struct krige_point *points;
    float (*coarse)[4];
    double *scratch, *sums, *counts, *kernels;
};

/* Logarithms of the rows' times. More of one dimension alone never takes less: where rows sorted by it say so, their
 * noise does, and those that contradict each other get their mean (pooling adjacent violators). `weights` is room. */
static void level_times(const struct op_row *rows, uint32_t count, double *logs, double *weights)
{
    uint32_t pools = 0;
    bool is_leveled = op_dim_count(rows[0].op.kind) == 1;
    for (uint32_t i = 0; i < count; i++) {
        logs[pools] = log(rows[i].us);
        weights[pools++] = 1;
        while (is_leveled && pools > 1 && logs[pools - 2] > logs[pools - 1]) {
            double both = weights[pools - 2] + weights[pools - 1];
            logs[pools - 2] = (logs[pools - 2] * weights[pools - 2] + logs[pools - 1] * weights[pools - 1]) / both;
            weights[pools - 2] = both;
            pools--;
        }
    }
    for (uint32_t to = count; to > 0 && pools < to;) { /* each pool back over its rows, from behind */
        pools--;
        double level = logs[pools];
        for (double left = weights[pools]; left > 0.5; left--) {
            logs[--to] = level;
        }
    }
}

static enum orr_status fit_field(struct op_set *head, const struct search *search, const struct workspace *work,
                                 struct op_sets *sets, struct orr_error *err)
{
    const struct op_row *rows = search->rows;
    uint32_t count = search->count;
    struct krige krige = {.points = work->points,
                          .coarse = work->coarse,
                          .count = count,
                          .like = first_likeness[op_family_of(head->kind)]};
    level_times(rows, count, work->scratch, work->scratch + count);
    for (uint32_t i = 0; i < count; i++) {
        struct krige_point *point = &work->points[i];
        *point = (struct krige_point){.value = work->scratch[i] - log(base_of(search, i, head->constants)) -
                                               over_of(search->over, &rows[i].op)};
        features_of(&rows[i].op, search->machine.units, point);
    }
    if (search->over != NULL) { /* a few rows say little of shapes far from them, where much is known already */
        krige.pull = 8;
        for (int f = 0; f < KRIGE_FEATURES; f++) {
            krige.like.reach[f] *= 0.3;
        }
    }
    krige_scale(&krige);
    if (count >= 24) {
        krige_doubt(&krige, work->scratch);
        krige_tune(&krige, 1000);
    }
    krige_doubt(&krige, work->scratch);
    measure_errors(head, &krige, work->scratch);
    compute_op_fit_lay_grid(head, rows, count, search->over, work->scratch);
    struct op_set *set = op_sets_add(sets, head);
    if (set == NULL) {
        return mem_error(&sets->mem, "a set of operators", err);
    }
    compute_op_fit_fill_grid(set, &krige, rows, search->machine.units, search->over, work->sums, work->counts);
    return ORR_OK;
}

static enum orr_status compute_op_fit_check_times(const struct op_row *rows, uint32_t count, double *least,
                                                  struct orr_error *err)
{
    *least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (!(rows[i].us > 0) || !isfinite(rows[i].us)) {
            return error_set(err, ORR_EINVAL, "a measurement of %s is %g us: times above 0 are accepted",
                             op_kind_name(rows[i].op.kind), rows[i].us);
        }
        *least = rows[i].us < *least ? rows[i].us : *least;
    }
    return ORR_OK;
}

static void ask_kernels(const struct op_row *rows, uint32_t count, const struct orr_op_data *known, double *kernels)
{
    for (uint32_t i = 0; i < count; i++) {
        struct orr_op_prediction p;
        orr_op_predict(known, rows[i].device, ORR_OP_KERNEL, &rows[i].op, &p);
        kernels[i] = p.us;
    }
}

enum orr_status op_fit_set(const struct op_row *rows, uint32_t count, const char *source,
                           const struct orr_op_data *known, const struct op_set *over, struct op_sets *sets,
                           struct orr_error *err)
{
    struct op_set head = {.kind = rows[0].op.kind,
                          .dtype = rows[0].op.dtype,
                          .stack = rows[0].stack,
                          .device = rows[0].device,
                          .rows = count};
    struct search search = {.rows = rows,
                            .count = count,
                            .step = count / 1200 + 1,
                            .machine = op_machine_of(&device_rows[head.device], head.dtype),
                            .family = &op_families[op_set_family(head.stack, head.kind)]};
    double least = 0;
    search.over = over;
    enum orr_status status = compute_op_fit_check_times(rows, count, &least, err);
    if (status != ORR_OK) {
        return status;
    }
    (void)snprintf(head.source, sizeof head.source, "%s", source);
    size_t sizes[] = {count * sizeof(struct krige_point), (2 * (size_t)count + 1) * sizeof(double),
                      OP_CELLS_MOST * sizeof(double), count * sizeof(float[4]), count * sizeof(double)};
    struct workspace work = {mem_alloc(&sets->mem, sizes[0]), mem_alloc(&sets->mem, sizes[3]),
                             mem_alloc(&sets->mem, sizes[1]), mem_alloc(&sets->mem, sizes[2]),
                             mem_alloc(&sets->mem, sizes[2]), mem_alloc(&sets->mem, sizes[4])};
    if (work.points == NULL || work.coarse == NULL || work.scratch == NULL || work.sums == NULL ||
        work.counts == NULL || work.kernels == NULL) {
        status = mem_error(&sets->mem, "fitting", err);
    } else {
        if (head.stack == ORR_OP_TORCH) {
            ask_kernels(rows, count, known, work.kernels);
            search.kernels = work.kernels;
        }
        start_search(&search, &head, sets, least);
        memcpy(head.constants, over != NULL ? over->constants : search.start, sizeof head.constants);
        for (int again = 0; again < 2 && over == NULL; again++) { /* a fresh simplex gets out of a flat one */
            minimise(&search, head.constants, 450);
        }
        status = fit_field(&head, &search, &work, sets, err);
    }
    mem_free(&sets->mem, work.points, sizes[0]);
    mem_free(&sets->mem, work.coarse, sizes[3]);
    mem_free(&sets->mem, work.scratch, sizes[1]);
    mem_free(&sets->mem, work.sums, sizes[2]);
    mem_free(&sets->mem, work.counts, sizes[2]);
    mem_free(&sets->mem, work.kernels, sizes[4]);
    return status;
}
