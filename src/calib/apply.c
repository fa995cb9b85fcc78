/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network YAML is written anew, since its four keys are all it has; system files and physical topologies are copied
 * character by character around the numbers that change, so that whatever else a user keeps in them stays. Both were
 * read by their own readers before, so that what is looked for here is known to be well formed. All copies are made in
 * memory first and written last.
 */
#include "calib/apply.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "config/config.h"
#include "config/wired.h"
#include "io/file.h"
#include "io/kind.h"
#include "run/machine_files.h"
#include "run/network_choice.h"

struct applying {
    const struct orr_calib_apply *apply; /* with the paths of a machine's files where that is named */
    struct run_texts texts;              /* and those files */
    const struct calib *calib;
    struct arena *arena;
    struct notes *notes;
    FILE *stream;
    struct orr_error *err;
};

struct copy {
    const char *path, *text; /* text NULL: none */
    const char *changes;
};

static enum orr_status calib_apply_no_memory(const struct applying *a)
{
    return mem_error(a->arena->mem, "a machine's files", a->err);
}

/* "65Gbps", "1.5us": as the readers of both formats take them, whole bits and nanoseconds. */
static const char *calib_apply_spell(struct applying *a, double value, double scale, const char *unit)
{
    char text[48];
    int decimals = scale > 1e3 ? 9 : 3;
    (void)plain_snprintf(text, sizeof text, "%.*f", decimals, value);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '0') {
        text[--length] = '\0';
    }
    if (length > 0 && text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
    return arena_printf(a->arena, "%s%s", text, unit);
}

static const char *calib_apply_rate_text(struct applying *a)
{
    return isnan(a->calib->link_gbps) ? "" : calib_apply_spell(a, a->calib->link_gbps, 1e9, "Gbps");
}

static const char *latency_text(struct applying *a)
{
    return isnan(a->calib->link_latency_us) ? "" : calib_apply_spell(a, a->calib->link_latency_us, 1e3, "us");
}

static const char *calib_apply_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The file, or one of the machine's, as a text that ends with 0; the buffer is the caller's to free. */
static enum orr_status read_original(struct applying *a, const char *path, struct file_buffer *buffer,
                                     struct orr_text *text)
{
    file_buffer_init(buffer, a->arena->mem);
    for (uint32_t i = 0; i < a->texts.count; i++) {
        if (strcmp(a->texts.text[i].path, path) == 0) {
            *text = a->texts.text[i];
            return ORR_OK;
        }
    }
    enum orr_status status = file_buffer_read(buffer, path, a->err);
    *text = (struct orr_text){path, (const char *)buffer->bytes, buffer->size};
    return status;
}

/* ---- network YAML ---- */

static enum orr_status choose_dims(struct applying *a, uint32_t count, bool chosen[TOPO_MAX_DIMS])
{
    const char *at = a->apply->dims;
    for (uint32_t i = 0; i < TOPO_MAX_DIMS; i++) {
        chosen[i] = at == NULL;
    }
    while (at != NULL && *at != '\0') {
        char *end = NULL;
        unsigned long dim = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : ULONG_MAX;
        if (end == NULL || dim >= count || (*end != ',' && *end != '\0')) {
            return error_set(a->err, ORR_EINVAL,
                             "parameter 'dims': \"%.40s\" is no list of dimensions: the network has %" PRIu32
                             ", from 0",
                             a->apply->dims, count);
        }
        chosen[dim] = true;
        at = *end == ',' ? end + 1 : end;
    }
    return ORR_OK;
}

static const char *yaml_text(struct applying *a, const struct topo_dims *dims, const bool *chosen)
{
    const char *kinds = "";
    const char *sizes = "";
    const char *rates = "";
    const char *times = "";
    const char *rate = calib_apply_rate_text(a);
    const char *time = latency_text(a);
    for (uint32_t i = 0; i < dims->count; i++) {
        const struct topo_dim *dim = &dims->dim[i];
        const char *comma = i == 0 ? "" : ", ";
        const char *own_rate = arena_printf(a->arena, "%.17g", dim->bandwidth_gibps);
        const char *own_time = arena_printf(a->arena, "%.17g", dim->latency_ns);
        if (rate == NULL || time == NULL || own_rate == NULL || own_time == NULL || kinds == NULL || sizes == NULL ||
            rates == NULL || times == NULL) {
            return NULL;
        }
        kinds = arena_printf(a->arena, "%s%s%s", kinds, comma, topo_kind_name(dim->kind));
        sizes = arena_printf(a->arena, "%s%s%" PRIu32, sizes, comma, dim->size);
        rates = arena_printf(a->arena, "%s%s%s", rates, comma, chosen[i] && rate[0] != '\0' ? rate : own_rate);
        times = arena_printf(a->arena, "%s%s%s", times, comma, chosen[i] && time[0] != '\0' ? time : own_time);
    }
    return kinds == NULL || sizes == NULL || rates == NULL || times == NULL
               ? NULL
               : arena_printf(a->arena, "topology: [%s]\nnpus_count: [%s]\nbandwidth: [%s]\nlatency: [%s]\n", kinds,
                              sizes, rates, times);
}

static enum orr_status make_yaml(struct applying *a, const struct orr_text *text, struct copy *copy)
{
    struct topo_dims dims = {0};
    bool chosen[TOPO_MAX_DIMS];
    enum orr_status status = config_parse_network(text->path, text->text, text->size, a->notes, &dims, a->err);
    status = status != ORR_OK ? status : choose_dims(a, dims.count, chosen);
    if (status == ORR_OK) {
        copy->text = yaml_text(a, &dims, chosen);
        status = copy->text == NULL ? calib_apply_no_memory(a) : ORR_OK;
    }
    return status;
}

/* ---- physical topologies ---- */

/* Where the field `wanted` (from 0) of a line begins, and its length; false when the line has no five fields. */
static bool find_field(const char *line, size_t length, unsigned wanted, size_t *begin, size_t *size)
{
    unsigned field = 0;
    size_t at = 0;
    while (at < length) {
        at += strspn(line + at, " \t\r");
        if (at >= length) {
            break;
        }
        size_t word = strcspn(line + at, " \t\r\n");
        if (field == wanted) {
            *begin = at;
            *size = word;
        }
        field++;
        at += word;
    }
    return field == 5;
}

static const char *replace_link(struct applying *a, const char *line, size_t length, const char *rate, const char *time)
{
    size_t begin[2] = {0, 0};
    size_t size[2] = {0, 0};
    if (!find_field(line, length, 2, &begin[0], &size[0]) || !find_field(line, length, 3, &begin[1], &size[1])) {
        return arena_strndup(a->arena, line, length);
    }
    const char *old_rate = arena_strndup(a->arena, line + begin[0], size[0]);
    const char *old_time = arena_strndup(a->arena, line + begin[1], size[1]);
    if (old_rate == NULL || old_time == NULL) {
        return NULL;
    }
    size_t after = begin[1] + size[1];
    return arena_printf(a->arena, "%.*s%s %s%.*s", (int)begin[0], line, rate[0] != '\0' ? rate : old_rate,
                        time[0] != '\0' ? time : old_time, (int)(length - after), line + after);
}

/* The first two lines are the counts and the switches. */
static enum orr_status edit_topology(struct applying *a, const char *text, struct copy *copy)
{
    const char *rate = calib_apply_rate_text(a);
    const char *time = latency_text(a);
    size_t room = strlen(text) + 1;
    size_t lines = 1;
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    size_t grows = rate == NULL || time == NULL ? 0 : strlen(rate) + strlen(time) + 1; /* a line, by that at most */
    char *made = grows == 0 ? NULL : arena_alloc(a->arena, room + lines * grows);
    if (made == NULL) {
        return calib_apply_no_memory(a);
    }
    size_t used = 0;
    unsigned number = 0;
    for (const char *at = text; *at != '\0'; number++) {
        size_t length = strcspn(at, "\n");
        const char *line = number < 2 ? arena_strndup(a->arena, at, length) : replace_link(a, at, length, rate, time);
        if (line == NULL) {
            return calib_apply_no_memory(a);
        }
        size_t size = strlen(line);
        memcpy(made + used, line, size);
        used += size;
        at += length;
        if (*at == '\n') {
            made[used++] = '\n';
            at++;
        }
    }
    made[used] = '\0';
    copy->text = made;
    return ORR_OK;
}

static enum orr_status make_topology(struct applying *a, const struct orr_text *text, struct copy *copy)
{
    struct topo_graph graph = {0};
    struct config_wired_extra extra = {0};
    struct notes unsaid;
    notes_init(&unsaid, a->arena->mem, false);
    enum orr_status status =
        config_parse_topology(text->path, text->text, text->size, a->arena, &unsaid, &graph, &extra, a->err);
    notes_free(&unsaid);
    if (status == ORR_OK) {
        topo_graph_free(&graph);
        status = edit_topology(a, text->text, copy);
    }
    return status;
}

/* ---- the network ---- */

static enum orr_status edit_network(struct applying *a, const struct orr_text *text, struct copy *copy)
{
    const char *end = strrchr(a->apply->network, '.');
    bool named = end != NULL && (strcmp(end, ".yml") == 0 || strcmp(end, ".yaml") == 0);
    enum file_kind kind = file_kind_of(text->text, text->size);
    bool yaml = kind == FILE_KIND_NETWORK || (kind == FILE_KIND_UNKNOWN && named);
    if (kind != FILE_KIND_UNKNOWN && kind != FILE_KIND_NETWORK && kind != FILE_KIND_WIRES) {
        return error_set(a->err, ORR_EINVAL,
                         "%.300s: this is %s; parameter 'network' wants a network file (YAML) or a physical topology",
                         text->path, file_kind_name(kind));
    }
    if (isnan(a->calib->link_gbps) && isnan(a->calib->link_latency_us)) {
        return error_set(
            a->err, ORR_EINVAL,
            "%s: has neither link_gbps nor link_latency_us: orrery calib fit parameter 'bench' FILE fits them",
            a->apply->calibration);
    }
    if (!yaml && a->apply->dims != NULL) {
        return error_set(a->err, ORR_EINVAL, "parameter 'dims': %s has no dimensions; a network.yml has",
                         a->apply->network);
    }
    const char *rate = calib_apply_rate_text(a);
    const char *time = latency_text(a);
    copy->changes =
        rate == NULL || time == NULL
            ? NULL
            : arena_printf(a->arena, "%s%s%s%s%s", rate[0] != '\0' ? "bandwidth " : "", rate,
                           rate[0] != '\0' && time[0] != '\0' ? ", " : "", time[0] != '\0' ? "latency " : "", time);
    if (copy->changes == NULL) {
        return calib_apply_no_memory(a);
    }
    return yaml ? make_yaml(a, text, copy) : make_topology(a, text, copy);
}

static enum orr_status make_network(struct applying *a, struct copy *copy)
{
    struct file_buffer buffer;
    struct orr_text text;
    enum orr_status status = read_original(a, a->apply->network, &buffer, &text);
    status = status == ORR_OK ? edit_network(a, &text, copy) : status;
    file_buffer_free(&buffer);
    return status;
}

/* ---- the system ---- */

/* The value behind "KEY": in a flat JSON object that is known to be well formed; NULL where it is not there. */
static const char *calib_apply_value_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = strchr(text, '"'); at != NULL; at = strchr(at + 1, '"')) {
        const char *after = at + 1 + length;
        if (strncmp(at + 1, key, length) == 0 && *after == '"') {
            after += 1 + strspn(after + 1, " \t\r\n");
            if (*after == ':') {
                return after + 1 + strspn(after + 1, " \t\r\n");
            }
        }
        at = strchr(at + 1, '"'); /* keys and values of such files hold no escapes */
        if (at == NULL) {
            break;
        }
    }
    return NULL;
}

static enum orr_status edit_system(struct applying *a, const char *text, struct copy *copy)
{
    const char *number = calib_apply_spell(a, a->calib->memory_gbytes_ps, 1e3, "");
    const char *value = calib_apply_value_of(text, "local-mem-bw");
    const char *brace = strchr(text, '{');
    if (number == NULL) {
        return calib_apply_no_memory(a);
    }
    if (value != NULL) {
        size_t size = strcspn(value, ",} \t\r\n");
        copy->text = arena_printf(a->arena, "%.*s%s%s", (int)(value - text), text, number, value + size);
    } else if (brace != NULL) {
        bool only = brace[1 + strspn(brace + 1, " \t\r\n")] == '}';
        copy->text = arena_printf(a->arena, "%.*s\n  \"local-mem-bw\": %s%s%s", (int)(brace + 1 - text), text, number,
                                  only ? "\n" : ",", brace + 1);
    }
    copy->changes = arena_printf(a->arena, "local-mem-bw %s GB/s", number);
    return copy->text == NULL || copy->changes == NULL ? calib_apply_no_memory(a) : ORR_OK;
}

static enum orr_status make_system(struct applying *a, struct copy *copy)
{
    struct sim_system system;
    struct config_custom custom;
    struct file_buffer buffer;
    struct orr_text text;
    enum orr_status status = read_original(a, a->apply->system, &buffer, &text);
    if (status == ORR_OK) {
        status =
            config_parse_system(text.path, text.text, text.size, 1.0, a->arena, a->notes, &system, &custom, a->err);
    }
    if (status == ORR_OK && isnan(a->calib->memory_gbytes_ps)) {
        copy->text = arena_strndup(a->arena, text.text, text.size);
        copy->changes = "as it was: no memory bandwidth was fitted";
        status = copy->text == NULL ? calib_apply_no_memory(a) : ORR_OK;
    } else if (status == ORR_OK) {
        status = edit_system(a, text.text, copy);
    }
    file_buffer_free(&buffer);
    return status;
}

/* ---- a machine by name ---- */

/* One link was fitted: of a machine that has several kinds of them the user says which it is, and that is said in
 * dimensions. */
static enum orr_status choose_form(struct applying *a, const struct run_machine *machine,
                                   const struct run_quantities *rates, enum orr_backend *backend)
{
    bool wires = run_machine_needs_wires(machine);
    bool several = false;
    for (uint32_t i = 1; i < rates->count; i++) {
        several = several || rates->value[i] != rates->value[0];
    }
    *backend = wires && a->apply->dims == NULL ? ORR_BACKEND_FLOW : ORR_BACKEND_UNAWARE;
    return several && a->apply->dims == NULL
               ? error_set(a->err, ORR_EINVAL,
                           "parameter 'machine': links of %.80s have several rates; parameter 'dims' says which "
                           "dimensions get the fitted one",
                           a->apply->machine)
               : ORR_OK;
}

/* Its files, in memory, under the names they will have. */
static enum orr_status make_machine(struct applying *a, struct orr_calib_apply *own)
{
    struct orr_run_options said = {.machine = own->machine};
    struct run_machine machine;
    struct run_quantities rates;
    struct run_quantities times;
    struct run_machine_files files = {0};
    struct run_machine_request request = {.machine = &machine,
                                          .folder = own->folder,
                                          .system = own->system,
                                          .rates = &rates,
                                          .times = &times,
                                          .texts = &a->texts};
    enum orr_status status = run_machine_parse(own->machine, &machine, a->err);
    if (status == ORR_OK && machine.kind < RUN_MACHINE_MADE && own->dims == NULL) {
        /* Rates that are open are these, where else they stand as well. */
        said.bandwidth = isnan(a->calib->link_gbps) ? NULL : calib_apply_rate_text(a);
        said.latency = isnan(a->calib->link_latency_us) ? NULL : latency_text(a);
    }
    if (status == ORR_OK) {
        status = run_machine_read(own->machine, &said, a->arena, &machine, &rates, &times, a->err);
    }
    if (status == ORR_OK && machine.kind == RUN_MACHINE_FILE) {
        own->network = machine.path;
        return ORR_OK;
    }
    uint32_t told = status == ORR_OK ? run_machine_told(&machine) : 0;
    if (status == ORR_OK && told == 0) {
        status = error_set(a->err, ORR_EINVAL,
                           "parameter 'machine': %.80s leaves open how many ranks it has; one that says it is needed",
                           own->machine);
    }
    status = status == ORR_OK ? run_machine_lay_out(&machine, told, a->arena, &rates, &times, a->err) : status;
    status = status == ORR_OK ? choose_form(a, &machine, &rates, &request.backend) : status;
    status = status == ORR_OK ? run_machine_write(&request, a->arena, &files, a->err) : status;
    if (status == ORR_OK) {
        own->network = files.topology != NULL ? files.topology : files.network;
        own->system = files.system;
    }
    return status;
}

/* ---- all ---- */

static enum orr_status calib_apply_place(struct applying *a, const char *original, struct copy *copy)
{
    bool made = false;
    for (uint32_t i = 0; i < a->texts.count; i++) {
        made = made || strcmp(a->texts.text[i].path, original) == 0;
    }
    char *there = made ? NULL : realpath(original, NULL);
    copy->path = arena_printf(a->arena, "%s/%s", a->apply->folder, calib_apply_name_of(original));
    char *here = copy->path == NULL ? NULL : realpath(copy->path, NULL);
    bool same = there != NULL && here != NULL && strcmp(there, here) == 0;
    free(there);
    free(here);
    return copy->path == NULL ? calib_apply_no_memory(a)
           : same             ? error_set(a->err, ORR_EINVAL,
                                          "%s would replace the file that it is made of; another folder "
                                                      "is needed",
                                          copy->path)
                              : ORR_OK;
}

/* What of a machine's files has nothing to be changed. */
static enum orr_status put_rest(struct applying *a)
{
    enum orr_status status = ORR_OK;
    for (uint32_t i = 0; i < a->texts.count && status == ORR_OK; i++) {
        const struct orr_text *text = &a->texts.text[i];
        if (strcmp(text->path, a->apply->network) != 0 && strcmp(text->path, a->apply->system) != 0) {
            status = file_write(text->path, text->text, text->size, a->err);
        }
    }
    return status;
}

static enum orr_status calib_apply_put(struct applying *a, const struct copy *copy)
{
    if (copy->text == NULL) {
        return calib_apply_no_memory(a);
    }
    enum orr_status status = file_write(copy->path, copy->text, strlen(copy->text), a->err);
    if (status == ORR_OK && a->stream != NULL) {
        (void)fprintf(a->stream, "%s: %s\n", copy->path, copy->changes);
    }
    return status;
}

enum orr_status calib_apply(const struct orr_calib_apply *apply, const struct calib *calib, struct arena *arena,
                            struct notes *notes, FILE *stream, struct orr_error *err)
{
    struct orr_calib_apply own = *apply;
    struct applying a = {.apply = &own, .calib = calib, .arena = arena, .notes = notes, .stream = stream, .err = err};
    struct copy copies[2] = {{0}};
    enum orr_status status = ORR_OK;
    if ((own.system == NULL && own.network == NULL && own.machine == NULL) || own.folder == NULL) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'system' FILE, parameter 'network' FILE or parameter 'machine' NAME, and parameter "
                         "'output' DIR, are needed");
    }
    if (own.machine != NULL && own.network != NULL) {
        return error_set(err, ORR_EINVAL, "parameter 'machine' and parameter 'network' both say what the machine is");
    }
    if (own.machine != NULL) {
        status = make_machine(&a, &own);
    }
    if (status == ORR_OK && own.system != NULL && own.network != NULL &&
        strcmp(calib_apply_name_of(own.system), calib_apply_name_of(own.network)) == 0) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'system' and parameter 'network' have the same name, and the copies would too");
    }
    const char *const originals[2] = {own.system, own.network};
    for (int i = 0; status == ORR_OK && i < 2; i++) {
        status = originals[i] == NULL ? ORR_OK : calib_apply_place(&a, originals[i], &copies[i]);
    }
    if (status == ORR_OK && own.network != NULL) {
        status = make_network(&a, &copies[1]);
    }
    if (status == ORR_OK && own.system != NULL) {
        status = make_system(&a, &copies[0]);
    }
    for (int i = 0; status == ORR_OK && i < 2; i++) {
        status = originals[i] == NULL ? ORR_OK : calib_apply_put(&a, &copies[i]);
    }
    return status == ORR_OK ? put_rest(&a) : status;
}
