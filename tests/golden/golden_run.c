/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are relative and the working directory is the case's folder, because the paths of custom collectives inside
 * system.json are relative to it (spec §14). */
#include "tests/golden/golden_run.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/golden/case_text.h"

static void copy_text(struct case_slice slice, char *text, size_t size)
{
    size_t length = slice.length < size ? slice.length : size - 1;
    if (length > 0)
        memcpy(text, slice.at, length);
    text[length] = '\0';
}

static void set_options(const struct case_file *file, const struct golden_case *one, struct orr_run_options *options)
{
    char text[64];
    copy_text(case_option(file, one, "--num-queues-per-dim"), text, sizeof text);
    if (text[0] != '\0')
        options->queues_per_dim = (uint32_t)strtoul(text, NULL, 10);
    copy_text(case_option(file, one, "--injection-scale"), text, sizeof text);
    if (text[0] != '\0')
        options->injection_scale = strtod(text, NULL);
    options->rendezvous = slice_is(case_option(file, one, "--rendezvous-protocol"), "true");
    if (case_has(file, one, "group"))
        options->groups = "comm_group.json";
}

static void keep_results(const struct orr_run *run, struct golden_answer *answer)
{
    answer->rank_count = orr_run_rank_count(run);
    answer->time_ns = orr_run_time_ns(run);
    orr_run_optimum(run, &answer->optimum);
    answer->ranks = calloc(answer->rank_count + 1, sizeof *answer->ranks);
    for (uint32_t rank = 0; answer->ranks != NULL && rank < answer->rank_count; rank++)
        orr_run_rank(run, rank, &answer->ranks[rank]);
    FILE *stream = open_memstream(&answer->lines, &answer->line_bytes);
    if (stream == NULL)
        return;
    struct orr_error err = {0};
    enum orr_status status = orr_run_write(run, ORR_OUTPUT_ASTRA, NULL, stream, &err);
    fclose(stream);
    if (status != ORR_OK) {
        answer->status = status;
        answer->err = err;
    }
}

void golden_run(const struct case_file *file, const struct golden_case *one, enum orr_backend backend,
                struct golden_answer *answer)
{
    struct orr_run_options options;
    orr_run_options_init(&options);
    struct orr_run *run = NULL;
    options.workload = "workload/w";
    options.system = "system.json";
    options.network = "network.yml";
    options.memory = "memory.json";
    options.backend = backend;
    options.keep_issue_order = true;
    set_options(file, one, &options);
    *answer = (struct golden_answer){0};
    answer->status = orr_run_open(&options, &run, &answer->err);
    if (answer->status != ORR_OK)
        return;
    answer->status = orr_run_execute(run, &answer->err);
    if (answer->status == ORR_OK || answer->status == ORR_ESTALL)
        keep_results(run, answer);
    orr_run_close(run);
}

void golden_answer_free(struct golden_answer *answer)
{
    free(answer->ranks);
    free(answer->lines);
    *answer = (struct golden_answer){0};
}

void golden_folder_make(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(path, size, "%s/orrery-golden-XXXXXX", base == NULL || base[0] == '\0' ? "/tmp" : base);
    if (length < 0 || (size_t)length >= size || mkdtemp(path) == NULL) {
        perror(path);
        exit(1);
    }
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

void golden_folder_remove(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        perror(path);
}
