/* SPDX-License-Identifier: Apache-2.0 */
/* Who answers the routes of serve/routes.c, and the rows of what is asked that no other part of the library has. */
#ifndef ORR_SERVE_ANSWERS_H
#define ORR_SERVE_ANSWERS_H

#include "serve/room.h"

#define SERVE_ANSWERS(X)                                                                                               \
    X(version)                                                                                                         \
    X(models)                                                                                                          \
    X(machines)                                                                                                        \
    X(machine)                                                                                                         \
    X(frameworks)                                                                                                      \
    X(train)                                                                                                           \
    X(report)                                                                                                          \
    X(report_runs)                                                                                                     \
    X(run)                                                                                                             \
    X(collective)                                                                                                      \
    X(plan)                                                                                                            \
    X(jobs)                                                                                                            \
    X(job)                                                                                                             \
    X(job_result)                                                                                                      \
    X(job_stop)                                                                                                        \
    X(store)                                                                                                           \
    X(store_run)                                                                                                       \
    X(compare)                                                                                                         \
    X(files)                                                                                                           \
    X(file)                                                                                                            \
    X(openapi)

#define SERVE_X(name)                                                                                                  \
    enum orr_status serve_answer_##name(struct serve_room *room, struct serve_request *request,                        \
                                        struct serve_answer *answer, struct orr_error *err);
SERVE_ANSWERS(SERVE_X)
#undef SERVE_X

/* One collective on a machine. */
struct serve_run {
    struct orr_run_options run;
    const char *type;
    uint64_t bytes;
    uint32_t ranks; /* 0: the machine's */
};

struct serve_machine {
    const char *name;
    uint32_t ranks;
};

struct serve_report {
    struct orr_train_options train;
    const char *language;
};

struct serve_compared {
    uint64_t before, after;
};

extern const struct param_table serve_train_tables[], serve_run_tables[], serve_collective_tables[],
    serve_plan_tables[], serve_machine_tables[], serve_report_tables[], serve_report_runs_tables[],
    serve_store_tables[], serve_compare_tables[];
bool serve_run_takes(const struct param *row);

#endif
