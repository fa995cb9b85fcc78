/* SPDX-License-Identifier: Apache-2.0 */
/* Orrery in a program of your own: a job on a machine that is named, parameters by name, results by rank.
 *
 *     cc embed.c $(pkg-config --cflags --libs orrery) -o embed && ./embed
 */
#include <inttypes.h>
#include <orrery.h>

static int fail(const struct orr_error *err)
{
    (void)fprintf(stderr, "%s\n", err->text);
    return orr_status_exit_code(err->status);
}

int main(int argc, char **argv)
{
    const char *prefix = argc > 1 ? argv[1] : "embedded";
    const struct orr_gen_options job = {
        .pattern = ORR_PATTERN_COLLECTIVE, .type = "all-reduce", .bytes = 64 << 20, .npus = 16, .prefix = prefix};
    const char *const parameters[][2] = {
        {"workload", prefix}, {"machine", "dgx-h100:2"}, {"backend", "flow"}, {"seed", "1"}};
    struct orr_error err;
    struct orr_run_options options;
    struct orr_run *run = NULL;
    orr_run_options_init(&options);
    if (orr_gen(&job, &err) != ORR_OK) {
        return fail(&err);
    }
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        if (orr_run_set(&options, parameters[i][0], parameters[i][1], &err) != ORR_OK) {
            return fail(&err);
        }
    }
    if (orr_run_open(&options, &run, &err) != ORR_OK || orr_run_execute(run, &err) != ORR_OK) {
        orr_run_close(run);
        return fail(&err);
    }
    (void)printf("%" PRIu32 " ranks, %" PRIu64 " ns\n", orr_run_rank_count(run), orr_run_time_ns(run));
    for (uint32_t i = 0; i < orr_run_collective_count(run); i++) {
        struct orr_collective_result row;
        orr_run_collective(run, i, &row);
        (void)printf("%s of %" PRIu64 " B over %" PRIu32 " ranks: %" PRIu64 " ns at most\n", row.type, row.bytes,
                     row.group_size, row.max_ns);
    }
    orr_run_close(run);
    orr_run_options_free(&options);
    return 0;
}
