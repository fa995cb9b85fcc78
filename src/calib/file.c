/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of members, read and written by the same rows, so that what is written is read. Members are flat and carry
 * their units in their names: the file is short, and people edit it.
 */
#include "calib/file.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"
#include "io/json_write.h"
#include "io/outfile.h"

#define FORMAT "orrery-calibration-1"

enum { DECIMALS = 9, DECIMALS_MOST = 60 }; /* of a millisecond: far below what a clock tells */
static const double largest = 1e30;        /* of any number: beyond what can be fitted */

/* member of the file, field, what it is; LOW: the least value accepted for a number */
#define CALIB_MEMBERS(X)                                                                                               \
    X("tag", tag, TEXT, 0)                                                                                             \
    X("topology", topology, TEXT, 0)                                                                                   \
    X("source", source, TEXT, 0)                                                                                       \
    X("run", run, I64, 0)                                                                                              \
    X("ranks", ranks, U32, 0)                                                                                          \
    X("accepted", accepted, BOOL, 0)                                                                                   \
    X("compute_scale", compute_scale, REAL, 1e-30)                                                                     \
    X("host_factor", host_factor, REAL, 1e-30)                                                                         \
    X("sim_untraced_step_ms", sim_untraced_ms, REAL, 0)                                                                \
    X("launch_us", launch_us, REAL, 0)                                                                                 \
    X("link_gbps", link_gbps, REAL, 1e-30)                                                                             \
    X("link_latency_us", link_latency_us, REAL, 0)                                                                     \
    X("local_memory_gbytes_per_s", memory_gbytes_ps, REAL, 1e-30)                                                      \
    X("profiler_us_per_event", profiler_us, REAL, -1e30)                                                               \
    X("host_events_per_step", host_events, REAL, 0)                                                                    \
    X("gpu_mhz", gpu_mhz, REAL, 0)                                                                                     \
    X("alpha", alpha, REAL, 1e-30)                                                                                     \
    X("alpha_iqr", alpha_iqr, REAL, 0)                                                                                 \
    X("alpha_comm", alpha_comm, REAL, 0)                                                                               \
    X("alpha_gpu", alpha_gpu, REAL, 0)                                                                                 \
    X("real_step_ms", real.step_ms, REAL, 0)                                                                           \
    X("real_step_iqr_ms", iqr_ms, REAL, 0)                                                                             \
    X("real_is_traced", traced, BOOL, 0)                                                                               \
    X("real_comm_ms", real.comm_ms, REAL, 0)                                                                           \
    X("real_least_comm_ms", least_comm_ms, REAL, 0)                                                                    \
    X("real_exposed_comm_ms", real.exposed_ms, REAL, 0)                                                                \
    X("real_gpu_ms", real.gpu_ms, REAL, 0)                                                                             \
    X("real_kernel_ms", kernel_ms, REAL, 0)                                                                            \
    X("real_untraced_step_ms", untraced_ms, REAL, 0)                                                                   \
    X("real_untraced_iqr_ms", untraced_iqr_ms, REAL, 0)                                                                \
    X("real_untraced_samples", untraced_steps, U64, 0)                                                                 \
    X("samples", samples, U64, 0)                                                                                      \
    X("recorded_steps", real_steps, U64, 0)                                                                            \
    X("sim_step_ms", sim.step_ms, REAL, 0)                                                                             \
    X("sim_comm_ms", sim.comm_ms, REAL, 0)                                                                             \
    X("sim_exposed_comm_ms", sim.exposed_ms, REAL, 0)                                                                  \
    X("sim_gpu_ms", sim.gpu_ms, REAL, 0)                                                                               \
    X("sim_is_tuned", tuned, BOOL, 0)                                                                                  \
    X("sim_steps", sim_steps, U64, 0)                                                                                  \
    X("lower_bound_ms", lower_bound_ms, REAL, 0)                                                                       \
    X("bus_bytes_per_step", bus_bytes, REAL, 0)                                                                        \
    X("collectives_per_step", collectives, REAL, 0)                                                                    \
    X("configured_gbps", bandwidth_gbps, REAL, 0)                                                                      \
    X("achieved_gbps", achieved_gbps, REAL, 0)                                                                         \
    X("configured_bandwidth_too_low", bandwidth_too_low, BOOL, 0)                                                      \
    X("held_out_error", held_out, REAL, 0)                                                                             \
    X("untraced_error", untraced_error, REAL, 0)

enum member_kind { MEMBER_TEXT, MEMBER_I64, MEMBER_U64, MEMBER_U32, MEMBER_BOOL, MEMBER_REAL };

struct member {
    const char *name;
    size_t offset;
    enum member_kind kind;
    double low;
};

static const struct member members[] = {
#define CALIB_X(name, field, kind, low) {name, offsetof(struct calib, field), MEMBER_##kind, low},
    CALIB_MEMBERS(CALIB_X)
#undef CALIB_X
};

enum { MEMBER_COUNT = sizeof members / sizeof members[0] };

struct calib calib_none(void)
{
    struct calib calib = {0};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        void *at = (char *)&calib + members[i].offset;
        if (members[i].kind == MEMBER_REAL) {
            *(double *)at = NAN;
        } else if (members[i].kind == MEMBER_TEXT) {
            *(const char **)at = "";
        }
    }
    return calib;
}

/* ---- writing ---- */

/* So many that a small number keeps its digits. */
static int calib_file_decimals_of(double value)
{
    int decimals = DECIMALS;
    double rest = fabs(value);
    while (rest > 0 && rest < 1e-2 && decimals < DECIMALS_MOST) {
        rest *= 10;
        decimals++;
    }
    return decimals;
}

static void write_member(struct json_writer *writer, const struct calib *calib, const struct member *member)
{
    const void *at = (const char *)calib + member->offset;
    switch (member->kind) {
    case MEMBER_TEXT:
        json_write_member_string(writer, member->name, *(const char *const *)at);
        break;
    case MEMBER_I64:
        json_write_member_i64(writer, member->name, *(const int64_t *)at);
        break;
    case MEMBER_U64:
        json_write_member_u64(writer, member->name, *(const uint64_t *)at);
        break;
    case MEMBER_U32:
        json_write_member_u64(writer, member->name, *(const uint32_t *)at);
        break;
    case MEMBER_BOOL:
        json_write_member_bool(writer, member->name, *(const bool *)at);
        break;
    case MEMBER_REAL:
        json_write_member_fixed(writer, member->name, *(const double *)at, calib_file_decimals_of(*(const double *)at));
        break;
    }
}

static void write_checks(struct json_writer *writer, const struct calib *calib)
{
    json_write_key(writer, "rules");
    json_write_array(writer, false);
    for (uint32_t i = 0; i < calib->check_count; i++) {
        const struct calib_check *check = &calib->checks[i];
        json_write_object(writer, true);
        json_write_member_string(writer, "rule", check->rule);
        json_write_member_string(writer, "limit", check->limit);
        json_write_member_string(writer, "value", check->value);
        json_write_member_bool(writer, "holds", check->holds);
        json_write_object_end(writer);
    }
    json_write_array_end(writer);
}

enum orr_status calib_file_write(const char *path, const struct calib *calib, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    struct json_writer writer;
    enum orr_status status = io_make_folder_above(path, err);
    if (status == ORR_OK) {
        status = io_outfile_open(path, IO_OUTFILE_PLAIN, &file, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    json_write_begin(&writer, io_outfile_stream(file));
    json_write_object(&writer, false);
    json_write_member_string(&writer, "format", FORMAT);
    json_write_member_string(&writer, "version", orr_version());
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        write_member(&writer, calib, &members[i]);
    }
    write_checks(&writer, calib);
    json_write_object_end(&writer);
    json_write_end(&writer);
    return io_outfile_commit(file, err);
}

/* ---- reading ---- */

struct reading {
    const char *name;
    struct arena *arena;
    struct calib *calib;
    struct orr_error *err;
};

static enum orr_status calib_file_refuse(struct reading *r, const struct io_value *value, const char *wanted)
{
    char found[80];
    return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": \"%.60s\" is %s, not %s", r->name, value->line, value->key,
                     io_value_describe(value, found, sizeof found), wanted);
}

static enum orr_status calib_file_read_text(struct reading *r, const struct io_value *value, void *at)
{
    if (value->kind != IO_TEXT && value->kind != IO_NULL) {
        return calib_file_refuse(r, value, "a text");
    }
    const char *text = value->kind == IO_NULL ? "" : arena_strndup(r->arena, value->text, strlen(value->text));
    if (text == NULL) {
        return mem_error(r->arena->mem, "a calibration", r->err);
    }
    *(const char **)at = text;
    return ORR_OK;
}

static enum orr_status read_real(struct reading *r, const struct io_value *value, double low, void *at)
{
    double real = value->kind == IO_INTEGER ? (double)value->integer : value->kind == IO_REAL ? value->real : NAN;
    if (value->kind == IO_NULL) {
        *(double *)at = NAN;
        return ORR_OK;
    }
    if (!(real >= low && real <= largest)) {
        return calib_file_refuse(r, value, low > 0 ? "a number above 0" : low < 0 ? "a number" : "a number from 0");
    }
    *(double *)at = real;
    return ORR_OK;
}

static enum orr_status read_integer(struct reading *r, const struct io_value *value, enum member_kind kind, void *at)
{
    int64_t most = kind == MEMBER_U32 ? INT32_MAX : INT64_MAX;
    if (value->kind != IO_INTEGER || value->integer < 0 || value->integer > most) {
        return calib_file_refuse(r, value, "a whole number from 0");
    }
    if (kind == MEMBER_U32) {
        *(uint32_t *)at = (uint32_t)value->integer;
    } else if (kind == MEMBER_U64) {
        *(uint64_t *)at = (uint64_t)value->integer;
    } else {
        *(int64_t *)at = value->integer;
    }
    return ORR_OK;
}

static enum orr_status read_member(struct reading *r, const struct member *member, const struct io_value *value)
{
    void *at = (char *)r->calib + member->offset;
    switch (member->kind) {
    case MEMBER_TEXT:
        return calib_file_read_text(r, value, at);
    case MEMBER_REAL:
        return read_real(r, value, member->low, at);
    case MEMBER_BOOL:
        if (value->kind != IO_BOOL) {
            return calib_file_refuse(r, value, "true or false");
        }
        *(bool *)at = value->boolean;
        return ORR_OK;
    default:
        return read_integer(r, value, member->kind, at);
    }
}

static enum orr_status read_check(struct reading *r, const struct io_value *row)
{
    struct calib_check check = {"", "", "", false};
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"rule", &check.rule}, {"limit", &check.limit}, {"value", &check.value}};
    enum orr_status status = ORR_OK;
    if (row->kind != IO_MAP || r->calib->check_count == CALIB_CHECKS_MOST) {
        return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": \"rules\" is a list of up to %d rules", r->name,
                         row->line, CALIB_CHECKS_MOST);
    }
    for (const struct io_value *at = row->first; status == ORR_OK && at != NULL; at = at->next) {
        for (size_t i = 0; status == ORR_OK && i < sizeof texts / sizeof texts[0]; i++) {
            status = strcmp(at->key, texts[i].key) == 0 ? calib_file_read_text(r, at, (void *)texts[i].text) : ORR_OK;
        }
        check.holds = strcmp(at->key, "holds") == 0 ? at->kind == IO_BOOL && at->boolean : check.holds;
    }
    if (status == ORR_OK) {
        r->calib->checks[r->calib->check_count++] = check;
    }
    return status;
}

static enum orr_status read_checks(struct reading *r, const struct io_value *list)
{
    enum orr_status status = list->kind == IO_LIST ? ORR_OK : calib_file_refuse(r, list, "a list");
    for (const struct io_value *at = status == ORR_OK ? list->first : NULL; status == ORR_OK && at != NULL;
         at = at->next) {
        status = read_check(r, at);
    }
    return status;
}

static enum orr_status read_key(struct reading *r, const struct io_value *value)
{
    const char *names[MEMBER_COUNT + 1];
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        names[i] = members[i].name;
        if (strcmp(value->key, members[i].name) == 0) {
            return read_member(r, &members[i], value);
        }
    }
    names[MEMBER_COUNT] = NULL;
    if (strcmp(value->key, "format") == 0 || strcmp(value->key, "version") == 0) {
        return ORR_OK;
    }
    if (strcmp(value->key, "rules") == 0) {
        return read_checks(r, value);
    }
    char shown[64];
    const char *nearest = error_nearest(value->key, names);
    return error_set(r->err, ORR_EINVAL, "%s:%" PRIu32 ": unknown member \"%s\"%s%s%s", r->name, value->key_line,
                     io_text_printable(value->key, shown, sizeof shown), nearest != NULL ? "; did you mean \"" : "",
                     nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

static bool is_calibration(const struct io_value *root)
{
    for (const struct io_value *at = root->kind == IO_MAP ? root->first : NULL; at != NULL; at = at->next) {
        if (strcmp(at->key, "format") == 0) {
            return at->kind == IO_TEXT && strcmp(at->text, FORMAT) == 0;
        }
    }
    return false;
}

enum orr_status calib_file_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                 struct calib *calib, struct orr_error *err)
{
    struct io_value *root = NULL;
    struct calib made = calib_none();
    struct reading r = {.name = name, .arena = arena, .calib = &made, .err = err};
    enum orr_status status = io_json_parse(name, text, size, arena, &root, err);
    if (status == ORR_OK && !is_calibration(root)) {
        status = error_set(err, ORR_EINVAL,
                           "%s:1: is no calibration: \"format\": \"" FORMAT "\" is expected (orrery calib fit writes "
                           "one)",
                           name);
    }
    for (const struct io_value *at = status == ORR_OK ? root->first : NULL; status == ORR_OK && at != NULL;
         at = at->next) {
        status = read_key(&r, at);
    }
    if (status == ORR_OK) {
        *calib = made;
    }
    return status;
}

enum orr_status calib_file_read(const char *path, struct arena *arena, struct calib *calib, struct orr_error *err)
{
    struct file_buffer buffer;
    file_buffer_init(&buffer, arena->mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status = calib_file_parse(path, (const char *)buffer.bytes, buffer.size, arena, calib, err);
    }
    file_buffer_free(&buffer);
    return status;
}
