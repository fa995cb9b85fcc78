/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions around AICB's generators: options by name, one write. model/aicb/ does the work. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/notices.h"
#include "io/outfile.h"
#include "model/aicb/inference.h"
#include "model/aicb/physical.h"
#include "model/aicb/training.h"
#include "orrery.h"
#include "train/row_times.h"

enum { NAME_BYTES = 512 };

struct orr_aicb {
    enum orr_aicb_kind kind;
    struct mem mem;
    struct arena arena; /* texts of options, the path */
    struct aicb_options options;
    struct aicb_part_times part_times; /* where the options ask for them */
    struct aicb_inference_times inference_times;
    const char *path;
};

static enum aicb_generator generator_of(enum orr_aicb_kind kind)
{
    static const enum aicb_generator generators[] = {
        AICB_TRAINING, AICB_INFERENCE, AICB_VIDUR,
        /* one of the three, as the option frame will say */
        (enum aicb_generator)(AICB_MEGATRON | AICB_ZERO | AICB_COLLECTIVE)};
    return generators[kind];
}

/* ---- the list of options ---------------------------------------------------------------------------------------- */

static const char *value_word(const struct aicb_option *row)
{
    switch (row->kind) {
    case AICB_FLAG:
        return NULL;
    case AICB_INT:
        return "N";
    case AICB_CHOICE:
        return "WORD";
    case AICB_TEXT:
        break;
    }
    bool file = strstr(row->name, "file") != NULL;
    return file ? "FILE" : strcmp(row->name, "result_dir") == 0 ? "DIR" : "TEXT";
}

static void api_aicb_describe(const struct aicb_option *row, enum orr_aicb_kind kind, struct orr_aicb_option *option)
{
    *option = (struct orr_aicb_option){.name = row->name,
                                       .value = value_word(row),
                                       .help = row->help,
                                       .choices = row->choices,
                                       .affects = (row->affects & (uint32_t)generator_of(kind)) != 0,
                                       .ours = row->ours};
    if (row->kind == AICB_INT && !row->no_default) {
        (void)snprintf(option->fallback, sizeof option->fallback, "%" PRId64, row->fallback);
    } else if (row->kind == AICB_CHOICE) {
        (void)snprintf(option->fallback, sizeof option->fallback, "%s", row->choices[row->fallback]);
    } else if (row->kind == AICB_TEXT && row->text != NULL) {
        (void)snprintf(option->fallback, sizeof option->fallback, "%s", row->text);
    }
}

bool orr_aicb_option(enum orr_aicb_kind kind, unsigned index, struct orr_aicb_option *option)
{
    const struct aicb_option *row = NULL;
    for (unsigned i = 0; (row = aicb_option_row(i)) != NULL; i++) {
        if ((row->taken_by & (uint32_t)generator_of(kind)) != 0 && index-- == 0) {
            api_aicb_describe(row, kind, option);
            return true;
        }
    }
    return false;
}

bool orr_aicb_option_find(enum orr_aicb_kind kind, const char *word, size_t length, struct orr_aicb_option *option)
{
    const struct aicb_option *row = aicb_option_find(generator_of(kind), word, length, true);
    if (row != NULL) {
        api_aicb_describe(row, kind, option);
    }
    return row != NULL;
}

void orr_aicb_models(FILE *stream)
{
    aicb_presets_print(stream);
}

/* ---- one workload ----------------------------------------------------------------------------------------------- */

enum orr_status orr_aicb_open(enum orr_aicb_kind kind, bool compat, struct orr_aicb **aicb, struct orr_error *err)
{
    struct orr_aicb *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a workload's options");
    }
    made->kind = kind;
    arena_init(&made->arena, &made->mem);
    aicb_options_init(&made->options, generator_of(kind), compat);
    *aicb = made;
    return ORR_OK;
}

void orr_aicb_close(struct orr_aicb *aicb)
{
    if (aicb != NULL) {
        arena_free(&aicb->arena);
        free(aicb);
    }
}

enum orr_status orr_aicb_set(struct orr_aicb *aicb, const char *name, const char *value, struct orr_error *err)
{
    char *copy = value == NULL ? NULL : arena_strndup(&aicb->arena, value, strlen(value));
    if (value != NULL && copy == NULL) {
        return mem_error(&aicb->mem, "an option's value", err);
    }
    return aicb_options_set(&aicb->options, generator_of(aicb->kind), name, copy, err);
}

static enum orr_status own_name(const struct orr_aicb *aicb, char *name, size_t size, struct orr_error *err)
{
    enum orr_status status = ORR_OK;
    if (aicb->kind == ORR_AICB_TRAINING) {
        aicb_training_name(&aicb->options, name, size);
    } else if (aicb->kind == ORR_AICB_PHYSICAL) {
        aicb_physical_name(&aicb->options, name, size);
    } else {
        status = aicb_inference_name(&aicb->options, aicb->kind == ORR_AICB_VIDUR, name, size, err);
    }
    if (status == ORR_OK && strchr(name, '/') != NULL) {
        status =
            error_set(err, ORR_EINVAL, "the names in \"%.120s\" hold a '/': give -o a file instead of a folder", name);
    }
    return status;
}

static bool api_aicb_is_folder(const char *path)
{
    struct stat about;
    size_t length = strlen(path);
    return length == 0 || path[length - 1] == '/' || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one;
    struct stat other;
    return a != NULL && b != NULL && stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static enum orr_status choose_path(struct orr_aicb *aicb, const char *path, struct orr_error *err)
{
    const struct aicb_options *o = &aicb->options;
    const char *asked = path != NULL            ? path
                        : o->result_dir != NULL ? o->result_dir
                        : o->compat ? aicb->kind == ORR_AICB_PHYSICAL ? "results/mocked_workload" : "results/workload"
                                    : NULL;
    if (asked == NULL || asked[0] == '\0') {
        return error_set(err, ORR_EINVAL, "missing -o FILE (or -o FOLDER/, for AICB's own file name)");
    }
    bool folder = path == NULL || api_aicb_is_folder(asked);
    char name[NAME_BYTES] = "";
    enum orr_status status = folder ? own_name(aicb, name, sizeof name, err) : ORR_OK;
    if (status != ORR_OK) {
        return status;
    }
    bool slash = folder && asked[strlen(asked) - 1] != '/';
    const char *chosen = arena_printf(&aicb->arena, "%s%s%s", asked, slash ? "/" : "", name);
    if (chosen == NULL) {
        return mem_error(&aicb->mem, "a path", err);
    }
    if (is_same_file(chosen, o->comp_filepath) || is_same_file(chosen, o->config_file)) {
        return error_set(err, ORR_EINVAL, "-o %s is an input of this command", chosen);
    }
    aicb->path = chosen;
    return ORR_OK;
}

static enum orr_status api_aicb_write_to(struct orr_aicb *aicb, FILE *stream, struct notes *notes,
                                         struct orr_error *err)
{
    switch (aicb->kind) {
    case ORR_AICB_TRAINING:
        return aicb_training_write(&aicb->options, &aicb->mem, notes, stream, err);
    case ORR_AICB_INFERENCE:
        return aicb_inference_write(&aicb->options, &aicb->mem, stream, err);
    case ORR_AICB_VIDUR:
        return aicb_vidur_write(&aicb->options, &aicb->mem, stream, err);
    case ORR_AICB_PHYSICAL:
        return aicb_physical_write(&aicb->options, &aicb->mem, notes, stream, err);
    }
    return error_set(err, ORR_EINVAL, "no such generator");
}

/* What the operator model says of the rows, where it is asked. */
static enum orr_status ask_times(struct orr_aicb *aicb, struct orr_error *err)
{
    struct aicb_options *o = &aicb->options;
    o->part_times = NULL;
    o->inference_times = NULL;
    if (o->compute_times != AICB_TIMES_MODEL) {
        return o->device == NULL
                   ? ORR_OK
                   : error_set(err, ORR_EINVAL, "parameter 'device' needs parameter 'compute-times' model");
    }
    if (o->compat) {
        return error_set(err, ORR_EINVAL,
                         "parameter 'compute-times' model: AICB measures on a GPU; leave parameter 'compat' out");
    }
    if (aicb->kind == ORR_AICB_INFERENCE || aicb->kind == ORR_AICB_VIDUR) {
        o->inference_times = &aicb->inference_times;
        return row_times_of_inference(o, &aicb->mem, &aicb->inference_times, err);
    }
    o->part_times = &aicb->part_times;
    return row_times_of_aicb(o, &aicb->mem, &aicb->part_times, err);
}

static enum orr_status api_aicb_write_file(struct orr_aicb *aicb, struct notes *notes, struct orr_error *err)
{
    struct io_outfile *file = NULL;
    enum orr_status status = io_make_folder_above(aicb->path, err);
    if (status == ORR_OK) {
        status = io_outfile_open(aicb->path, io_outfile_form_of(aicb->path), &file, err);
    }
    if (status != ORR_OK) {
        return status;
    }
    status = api_aicb_write_to(aicb, io_outfile_stream(file), notes, err);
    return io_outfile_end(file, status, err);
}

static enum orr_status write_noting(struct orr_aicb *aicb, const char *path, struct notes *notes, struct orr_error *err)
{
    enum aicb_generator generator =
        aicb->kind == ORR_AICB_PHYSICAL ? aicb_physical_family(&aicb->options) : generator_of(aicb->kind);
    enum orr_status status = ORR_OK;
    if (!aicb->options.compat) { /* AICB's scripts give such options all the time */
        status = aicb_options_note_unused(&aicb->options, generator, notes, err);
    }
    if (status == ORR_OK && (aicb->kind == ORR_AICB_TRAINING || aicb->kind == ORR_AICB_PHYSICAL)) {
        status = aicb_preset_resolve(&aicb->options, err);
    }
    if (status == ORR_OK) {
        status = choose_path(aicb, path, err);
    }
    if (status == ORR_OK && aicb->kind != ORR_AICB_PHYSICAL) {
        status = ask_times(aicb, err);
    }
    return status == ORR_OK ? api_aicb_write_file(aicb, notes, err) : status;
}

enum orr_status orr_aicb_write(struct orr_aicb *aicb, const char *path, const struct orr_notices *notices,
                               struct orr_error *err)
{
    struct notes notes;
    notices_begin(&notes, &aicb->mem, notices);
    enum orr_status status = write_noting(aicb, path, &notes, err);
    notices_end(&notes, notices);
    return status;
}

const char *orr_aicb_path(const struct orr_aicb *aicb)
{
    return aicb->path;
}
