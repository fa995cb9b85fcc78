/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every case of a family, on both backends, against what ASTRA-sim answered: the finish and exposed cycles of every
 * rank, and the hash of its standard output against the hash of ours.
 *
 * Where ASTRA-sim crashed, hung or refused, `behaviours` says what we do instead and why (docs/differences.md in
 * table form); the numbers of ranks that had finished before must still agree. Cases whose outcome depends on
 * uninitialised memory or freed memory over there only have to end in an orderly way.
 *
 * Not a cmocka test: the cases are data, and a summary over all of them says more than the first difference.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "tests/check.h"
#include "tests/golden/golden_run.h"

static const struct behaviour {
    const char *reason; /* why ASTRA-sim did not finish, as the case says */
    enum orr_status status;
    const char *why;
} behaviours[] = {
    {"ring-of-two", ORR_OK, "the two ways round a ring of two are one pair of links"},
    {"event-at-time-zero", ORR_OK, "an event at time 0 is an event like others"},
    {"event-at-time-zero-and-order", ORR_ESTALL, "the same; and later the ranks issue collectives in different orders"},
    {"heap-corruption", ORR_OK, "the case is sound; the original overwrites its own heap"},
    {"metadata-node", ORR_OK, "a metadata node takes no time"},
    {"invalid-node", ORR_OK, "an invalid node takes no time, and its children go when nothing else is in flight"},
    {"group-of-one", ORR_OK, "a collective of one rank is complete at once"},
    {"no-used-dimension", ORR_OK, "a collective over no dimension is complete at once"},
    {"custom-with-splits", ORR_OK, "a custom collective is one stream, and complete when that is"},
    {"tree-not-power-of-two", ORR_OK, "trees exist for any number of ranks"},
    {"tree-on-group", ORR_OK, "trees exist for groups too"},
    {"statistics", ORR_OK, "statistics of CPU or memory nodes are left out, not fatal"},
    {"empty-trace", ORR_OK, "a rank with nothing to do is finished at time 0"},
    {"unsupported-collective", ORR_EINVAL, "REDUCE and its kind need --broadcast=simulate"},
    {"halving-doubling-all-to-all", ORR_EINVAL, "there is no such algorithm"},
    {"more-algorithms-than-dimensions", ORR_EINVAL, "the list and the network contradict each other"},
    {"group-zero", ORR_EINVAL, "group 0 means all ranks and cannot be defined"},
    {"unknown-group", ORR_EINVAL, "a node names a group nobody defined"},
    {"missing-attribute", ORR_EINVAL, "a node lacks what its type needs"},
    {"empty-message", ORR_EINVAL, "a message of 0 bytes never matches"},
    {"send-to-self", ORR_EINVAL, "no link leads from a rank to itself"},
    {"no-remote-memory", ORR_EINVAL, "the trace uses a memory the machine does not have"},
    {"unmatched-message", ORR_ESTALL, "a receive waits for a message that never comes"},
    {"different-order", ORR_ESTALL, "ranks issue the same collectives in different orders"},
    {"deadlock", ORR_ESTALL, "ranks hold different chunks of one all-reduce (spec 7.5)"},
};

/* The aware backend of the original takes one dimension only; ours takes any number, and then does what it does on
 * the other backend. Contention moves time, so that a stall there need not be one here. */
static const char several_dimensions[] = "several-dimensions";

enum verdict { EXACT, DOCUMENTED, UNRELIABLE, WRONG };

static const struct behaviour *find_behaviour(const char *reason)
{
    for (size_t i = 0; i < COUNT_OF(behaviours); i++) {
        if (strcmp(behaviours[i].reason, reason) == 0)
            return &behaviours[i];
    }
    return NULL;
}

/* What failed, for the report. */
struct finding {
    char text[512];
};

static enum verdict wrong(struct finding *finding, const char *fmt, ...) ORR_PRINTF(2, 3);

static enum verdict wrong(struct finding *finding, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(finding->text, sizeof finding->text, fmt, args);
    va_end(args);
    return WRONG;
}

/* Ranks the case lists must have the listed numbers. With `exactly`, those it does not list must not have finished. */
static enum verdict compare_ranks(const struct case_outcome *want, const struct golden_answer *got, bool exactly,
                                  struct finding *finding)
{
    for (uint32_t rank = 0; want->ranks != NULL && rank < got->rank_count; rank++) {
        const struct case_rank *w = &want->ranks[rank];
        const struct orr_rank_result *g = &got->ranks[rank];
        if (!w->finished && !(exactly && g->finished))
            continue;
        if (!w->finished || !g->finished)
            return wrong(finding, "rank %u: %s, expected %s", rank, g->finished ? "finished" : "did not finish",
                         w->finished ? "a finish" : "none");
        if (w->finish != g->finish_ns || w->exposed != g->exposed_ns)
            return wrong(finding, "rank %u: finish %" PRIu64 " exposed %" PRIu64 ", expected %" PRIu64 " and %" PRIu64,
                         rank, g->finish_ns, g->exposed_ns, w->finish, w->exposed);
    }
    return EXACT;
}

static enum verdict compare_lines(const struct case_outcome *want, const struct golden_answer *got,
                                  struct finding *finding)
{
    if (!want->has_hash)
        return EXACT;
    uint64_t hash = got->lines == NULL ? 0 : XXH64(got->lines, got->line_bytes, 0);
    if (hash != want->hash)
        return wrong(finding, "astra lines: hash %016" PRIx64 ", expected %016" PRIx64, hash, want->hash);
    return EXACT;
}

static bool refused(enum orr_status status)
{
    return status == ORR_EINVAL || status == ORR_ERANGE;
}

static bool some_rank_ends_at_zero(const struct golden_answer *got)
{
    for (uint32_t rank = 0; rank < got->rank_count; rank++) {
        if (got->ranks[rank].finish_ns == 0)
            return true;
    }
    return false;
}

static enum verdict judge_documented(enum orr_status status, const struct case_outcome *want,
                                     const struct golden_answer *got, struct finding *finding)
{
    if (status == ORR_EINVAL ? !refused(got->status) : got->status != status)
        return wrong(finding, "status \"%s\" (%s), expected \"%s\" [%s]", orr_status_text(got->status), got->err.text,
                     orr_status_text(status), want->reason);
    if (status == ORR_EINVAL)
        return DOCUMENTED;
    for (uint32_t rank = 0; status == ORR_OK && rank < got->rank_count; rank++) {
        if (!got->ranks[rank].finished)
            return wrong(finding, "rank %u did not finish [%s]", rank, want->reason);
    }
    if (strcmp(want->reason, "empty-trace") == 0 && !some_rank_ends_at_zero(got))
        return wrong(finding, "no rank ends at time 0 [%s]", want->reason);
    if (compare_ranks(want, got, status == ORR_ESTALL, finding) == WRONG)
        return WRONG;
    if (status == ORR_ESTALL && compare_lines(want, got, finding) == WRONG)
        return WRONG;
    return DOCUMENTED;
}

static enum verdict judge_several(const struct case_outcome *unaware, const struct case_outcome *want,
                                  const struct golden_answer *got, struct finding *finding)
{
    const struct behaviour *row = unaware->kind == CASE_OK ? NULL : find_behaviour(unaware->reason);
    enum orr_status status = row == NULL ? ORR_OK : row->status;
    if (status == ORR_ESTALL && got->status == ORR_OK)
        status = ORR_OK;
    return judge_documented(status, want, got, finding);
}

static enum verdict judge(const struct case_outcome outcome[2], enum orr_backend backend,
                          const struct golden_answer *got, struct finding *finding)
{
    const struct case_outcome *want = &outcome[backend];
    if (want->kind == CASE_OK) {
        if (got->status != ORR_OK)
            return wrong(finding, "status \"%s\" (%s), expected done", orr_status_text(got->status), got->err.text);
        if (compare_ranks(want, got, true, finding) == WRONG)
            return WRONG;
        return compare_lines(want, got, finding);
    }
    if (strcmp(want->reason, several_dimensions) == 0)
        return judge_several(&outcome[ORR_BACKEND_UNAWARE], want, got, finding);
    const struct behaviour *row = find_behaviour(want->reason);
    if (row == NULL)
        return wrong(finding, "no documented behaviour for \"%s\"", want->reason);
    return judge_documented(row->status, want, got, finding);
}

/* ORRERY_GOLDEN_LINES names a folder for our lines where they differ, to be compared by hand. */
static void keep_lines(const struct golden_case *one, enum orr_backend backend, const struct golden_answer *got)
{
    const char *folder = getenv("ORRERY_GOLDEN_LINES");
    char path[1024];
    if (folder == NULL || got->lines == NULL)
        return;
    snprintf(path, sizeof path, "%s/%s.%s.txt", folder, one->name, backend == ORR_BACKEND_AWARE ? "aware" : "unaware");
    FILE *stream = fopen(path, "wb");
    if (stream == NULL)
        return;
    fwrite(got->lines, 1, got->line_bytes, stream);
    fclose(stream);
}

static enum verdict run_backend(const struct case_file *file, const struct golden_case *one,
                                const struct case_outcome outcome[2], enum orr_backend backend)
{
    struct golden_answer got;
    struct finding finding = {""};
    golden_run(file, one, backend, &got);
    enum verdict verdict = one->unreliable ? UNRELIABLE : judge(outcome, backend, &got, &finding);
    if (one->unreliable && (got.status == ORR_EFAIL || got.status == ORR_EIO))
        verdict = wrong(&finding, "status \"%s\": %s", orr_status_text(got.status), got.err.text);
    if (backend == ORR_BACKEND_AWARE && got.status == ORR_OK && got.optimum.all_ns > got.time_ns)
        verdict = wrong(&finding, "the lower bound %" PRIu64 " ns lies above the time, %" PRIu64 " ns",
                        got.optimum.all_ns, got.time_ns);
    if (verdict == WRONG) {
        printf("WRONG %s %s: %s\n", one->name, backend == ORR_BACKEND_AWARE ? "aware" : "unaware", finding.text);
        keep_lines(one, backend, &got);
    }
    golden_answer_free(&got);
    return verdict;
}

/* False when the case could not be tried at all. */
static bool run_case(const struct case_file *file, const struct golden_case *one, size_t counts[4])
{
    char folder[512];
    struct orr_error err = {0};
    struct case_outcome outcome[2] = {{0}, {0}};
    golden_folder_make(folder, sizeof folder);
    enum orr_status status = case_write(file, one, folder, &err);
    for (int backend = 0; backend < 2 && status == ORR_OK; backend++)
        status = case_outcome_read(file, one, (enum orr_backend)backend, &outcome[backend], &err);
    if (status == ORR_OK && chdir(folder) == 0) {
        for (int backend = 0; backend < 2; backend++)
            counts[run_backend(file, one, outcome, (enum orr_backend)backend)]++;
    } else {
        printf("WRONG %s: %s\n", one->name, status == ORR_OK ? "no way into the folder" : err.text);
        counts[WRONG]++;
    }
    fflush(stdout);
    case_outcome_free(&outcome[0]);
    case_outcome_free(&outcome[1]);
    bool back = chdir("/") == 0;
    golden_folder_remove(folder);
    return back;
}

int main(int argc, char **argv)
{
    struct case_file file;
    struct orr_error err = {0};
    size_t counts[4] = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: %s FAMILY.cases [CASE…]\n", argv[0]);
        return 2;
    }
    if (case_file_open(argv[1], &file, &err) != ORR_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    bool good = true;
    for (size_t i = 0; i < file.case_count && good; i++) {
        bool chosen = argc == 2;
        for (int k = 2; k < argc; k++)
            chosen = chosen || strcmp(argv[k], file.cases[i].name) == 0;
        good = !chosen || run_case(&file, &file.cases[i], counts);
    }
    printf("%zu cases on two backends: %zu equal, %zu by documented behaviour, %zu unreliable, %zu wrong\n",
           file.case_count, counts[EXACT], counts[DOCUMENTED], counts[UNRELIABLE], counts[WRONG]);
    case_file_close(&file);
    return good && counts[WRONG] == 0 ? 0 : 1;
}
