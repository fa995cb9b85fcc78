/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every golden case of a file on the packet network, through the public interface: each rank's finish and every line of
 * fct.txt and pfc.txt must be those of ASTRA-sim on ns-3, by count and hash. Cases that hang the original must stall,
 * with the lines it had written until then; the one that crashes it must stall too.
 *
 * Each case runs a second time with the retransmission timeout that is the default outside --compat astra. Where
 * nothing is lost nothing may change; where the original waits for ever for something lost, the run must now end.
 *
 * Usage: test_packet FILE.cases [CASE…]
 */
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "tests/check.h"
#include "tests/golden/case_text.h"
#include "tests/golden/golden_run.h"
#include "tests/golden/packet_case.h"

struct answer {
    enum orr_status status;
    struct orr_error err;
    uint32_t rank_count;
    struct orr_rank_result *ranks;
    char *lines[2]; /* fct, pfc */
    size_t bytes[2];
};

static void keep_lines(const struct orr_run *run, struct answer *answer)
{
    static const enum orr_output outputs[2] = {ORR_OUTPUT_FCT, ORR_OUTPUT_PFC};
    for (int i = 0; i < 2; i++) {
        struct orr_error err = {0};
        FILE *stream = open_memstream(&answer->lines[i], &answer->bytes[i]);
        if (stream == NULL)
            abort();
        if (orr_run_write(run, outputs[i], NULL, stream, &err) != ORR_OK)
            printf("%s\n", err.text);
        fclose(stream);
    }
}

static void run_case(const struct case_file *file, const struct golden_case *one, bool compat, struct answer *answer)
{
    struct orr_run_options options;
    orr_run_options_init(&options);
    struct orr_run *run = NULL;
    options.workload = "workload/w";
    options.system = "system.json";
    options.network = "config.txt";
    options.logical = "logical.json";
    options.memory = "memory.json";
    options.backend = ORR_BACKEND_PACKET;
    options.keep_flows = true;
    options.compat = compat ? ORR_COMPAT_ASTRA : ORR_COMPAT_NONE;
    options.no_pfc = slice_is(case_option(file, one, "--no-pfc"), "true");
    struct case_slice queues = case_option(file, one, "--num-queues-per-dim");
    if (queues.length > 0)
        options.queues_per_dim = (uint32_t)strtoul(queues.at, NULL, 10);
    *answer = (struct answer){0};
    answer->status = orr_run_open(&options, &run, &answer->err);
    if (answer->status != ORR_OK)
        return;
    answer->status = orr_run_execute(run, &answer->err);
    answer->rank_count = orr_run_rank_count(run);
    answer->ranks = calloc(answer->rank_count + 1, sizeof *answer->ranks);
    for (uint32_t rank = 0; answer->ranks != NULL && rank < answer->rank_count; rank++)
        orr_run_rank(run, rank, &answer->ranks[rank]);
    keep_lines(run, answer);
    orr_run_close(run);
}

static void free_answer(struct answer *answer)
{
    free(answer->ranks);
    free(answer->lines[0]);
    free(answer->lines[1]);
}

static uint64_t count_lines(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n' ? 1 : 0;
    return lines;
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Of the lines as they stand, or put in order. */
static uint64_t hash_lines(const char *text, size_t bytes, bool sorted)
{
    size_t count = count_lines(text, bytes);
    if (!sorted || count == 0)
        return XXH64(text, bytes, 0);
    char *copy = strndup(text, bytes);
    char **lines = calloc(count, sizeof *lines);
    XXH64_state_t *state = XXH64_createState();
    if (copy == NULL || lines == NULL || state == NULL)
        abort();
    char *rest = NULL;
    size_t found = 0;
    for (char *line = strtok_r(copy, "\n", &rest); line != NULL && found < count; line = strtok_r(NULL, "\n", &rest))
        lines[found++] = line;
    qsort(lines, found, sizeof *lines, compare_lines);
    XXH64_reset(state, 0);
    for (size_t i = 0; i < found; i++) {
        XXH64_update(state, lines[i], strlen(lines[i]));
        XXH64_update(state, "\n", 1);
    }
    uint64_t hash = XXH64_digest(state);
    XXH64_freeState(state);
    free(lines);
    free(copy);
    return hash;
}

static bool same_ranks(const struct case_outcome *want, const struct answer *got)
{
    for (uint32_t rank = 0; want->ranks != NULL && rank < got->rank_count; rank++) {
        const struct case_rank *w = &want->ranks[rank];
        const struct orr_rank_result *g = &got->ranks[rank];
        if (w->finished != g->finished)
            return false;
        if (w->finished && (w->finish != g->finish_ns || w->exposed != g->exposed_ns))
            return false;
    }
    return true;
}

/* NULL when all is as ASTRA-sim has it, else what is not. */
static const char *compare(const struct case_outcome *want, const struct packet_expectation *expected,
                           const struct answer *got)
{
    enum orr_status status = want->kind == CASE_OK ? ORR_OK : ORR_ESTALL;
    if (got->status != status)
        return got->err.text[0] == '\0' ? orr_status_text(got->status) : got->err.text;
    if (want->kind == CASE_SIGNAL)
        return NULL;
    if (!same_ranks(want, got))
        return "a rank's finish differs";
    if (count_lines(got->lines[0], got->bytes[0]) != expected->flows)
        return "fct.txt has another number of lines";
    if (hash_lines(got->lines[0], got->bytes[0], expected->sorted) != want->hash)
        return "fct.txt differs";
    if (want->kind == CASE_OK && count_lines(got->lines[1], got->bytes[1]) != expected->pauses)
        return "pfc.txt has another number of lines";
    if (expected->has_pauses && hash_lines(got->lines[1], got->bytes[1], expected->sorted) != expected->pauses_hash)
        return "pfc.txt differs";
    return NULL;
}

/* What the timeout may change: a case that ASTRA-sim finishes has the same numbers unless something was lost. */
static const char *compare_with_timeout(const struct case_file *file, const struct golden_case *one,
                                        const struct case_outcome *want, const struct packet_expectation *expected,
                                        const struct answer *got)
{
    bool lossless =
        !case_has(file, one, "option") && !case_has(file, one, "lossy") && strstr(one->name, "_err") == NULL;
    if (want->kind == CASE_OK && lossless)
        return compare(want, expected, got);
    enum orr_status status = want->kind == CASE_OK || strcmp(want->reason, "loss") == 0 ? ORR_OK : ORR_ESTALL;
    return got->status == status ? NULL : got->status == ORR_OK ? "it ends" : got->err.text;
}

static bool try_case(const struct case_file *file, const struct golden_case *one)
{
    char folder[512];
    struct orr_error err = {0};
    struct case_outcome want = {0};
    struct packet_expectation expected = {0};
    golden_folder_make(folder, sizeof folder);
    enum orr_status status = packet_case_write(file, one, folder, &err);
    if (status == ORR_OK)
        status = case_outcome_read(file, one, ORR_BACKEND_PACKET, &want, &err);
    if (status == ORR_OK)
        status = packet_case_expects(file, one, &expected, &err);
    bool good = status == ORR_OK && chdir(folder) == 0;
    if (!good)
        printf("WRONG %s: %s\n", one->name, err.text);
    for (int compat = 1; good && compat >= 0; compat--) {
        struct answer got;
        run_case(file, one, compat == 1, &got);
        const char *wrong =
            compat == 1 ? compare(&want, &expected, &got) : compare_with_timeout(file, one, &want, &expected, &got);
        if (wrong != NULL) {
            printf("WRONG %s%s: %s\n", one->name, compat == 1 ? "" : " with a timeout", wrong);
            good = false;
        }
        free_answer(&got);
    }
    fflush(stdout);
    case_outcome_free(&want);
    good = chdir("/") == 0 && good;
    golden_folder_remove(folder);
    return good;
}

int main(int argc, char **argv)
{
    struct case_file file;
    struct orr_error err = {0};
    size_t tried = 0;
    size_t wrong = 0;
    if (argc < 2 || case_file_open(argv[1], &file, &err) != ORR_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: test_packet FILE.cases [CASE…]" : err.text);
        return 2;
    }
    for (size_t i = 0; i < file.case_count; i++) {
        bool chosen = argc == 2;
        for (int k = 2; k < argc; k++)
            chosen = chosen || strcmp(argv[k], file.cases[i].name) == 0;
        if (chosen) {
            tried++;
            wrong += try_case(&file, &file.cases[i]) ? 0 : 1;
        }
    }
    printf("%zu cases on the packet network: %zu equal, %zu wrong\n", tried, tried - wrong, wrong);
    case_file_close(&file);
    return wrong == 0 ? 0 : 1;
}
