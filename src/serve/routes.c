/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/clock.h"
#include "serve/answers.h"

static const struct serve_route routes[] = {
    {"/", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_page, "text/html; charset=utf-8", "The page"},
    {"/live.js", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_page, "text/javascript; charset=utf-8", "Its script"},
    {"/live.css", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_page, "text/css; charset=utf-8", "Its style"},
    {"/openapi.json", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_openapi, NULL, "This document"},
    {"/api/version", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_version, NULL,
     "The version, and whether a store and a folder are served"},
    {"/api/models", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_models, NULL,
     "The models there are, as orrery train lists them"},
    {"/api/machines", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_machines, NULL,
     "The machines there are, as orrery machine list"},
    {"/api/machine", SERVE_GET, SERVE_WORKED, serve_machine_tables, NULL, serve_answer_machine, NULL,
     "What a machine's name means, as orrery machine show"},
    {"/api/frameworks", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_frameworks, NULL,
     "The training frameworks there are"},
    {"/api/train", SERVE_GET | SERVE_POST, SERVE_WORKED, serve_train_tables, NULL, serve_answer_train, NULL,
     "How long a training step takes, as orrery train"},
    {"/api/report", SERVE_GET, SERVE_WORKED, serve_report_tables, NULL, serve_answer_report, "text/html; charset=utf-8",
     "A training step as one page to keep, as orrery train makes it"},
    {"/api/report/{runs}", SERVE_GET, SERVE_WORKED, serve_report_runs_tables, NULL, serve_answer_report_runs,
     "text/html; charset=utf-8", "Runs of the store as one page, as orrery report STORE:3,5"},
    {"/api/run", SERVE_GET | SERVE_POST, SERVE_WORKED, serve_run_tables, serve_run_takes, serve_answer_run, NULL,
     "One collective simulated on a machine, as orrery run of what orrery gen collective makes"},
    {"/api/collective", SERVE_GET | SERVE_POST, SERVE_WORKED, serve_collective_tables, NULL, serve_answer_collective,
     NULL, "How long a collective takes as NCCL or RCCL does it, as orrery coll time"},
    {"/api/plan", SERVE_POST, SERVE_WORKED, serve_plan_tables, NULL, serve_answer_plan, NULL,
     "Begin a search for the best plan, as orrery plan; the answer is a job"},
    {"/api/jobs", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_jobs, NULL, "The jobs there are, the newest last"},
    {"/api/jobs/{id}", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_job, NULL, "How far a job is"},
    {"/api/jobs/{id}", SERVE_DELETE, SERVE_AT_ONCE, NULL, NULL, serve_answer_job_stop, NULL,
     "Stop a job; what it had found by then stays its result"},
    {"/api/jobs/{id}/events", SERVE_GET, SERVE_EVENTS, NULL, NULL, NULL, "text/event-stream",
     "How far a job is, as server-sent events: progress, and end"},
    {"/api/jobs/{id}/result", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_job_result, NULL,
     "What a job found, as orrery plan"},
    {"/api/store", SERVE_GET, SERVE_WORKED, serve_store_tables, NULL, serve_answer_store, NULL,
     "The runs of the store, as orrery lab list"},
    {"/api/store/{run}", SERVE_GET, SERVE_WORKED, NULL, NULL, serve_answer_store_run, NULL,
     "All that the store has of one run, as orrery lab show"},
    {"/api/compare", SERVE_GET, SERVE_WORKED, serve_compare_tables, NULL, serve_answer_compare, NULL,
     "What differs between two runs of the store, as orrery lab diff"},
    {"/api/files", SERVE_GET, SERVE_WORKED, NULL, NULL, serve_answer_files, NULL, "The files of the served folder"},
    {"/files/{path}", SERVE_GET, SERVE_AT_ONCE, NULL, NULL, serve_answer_file, "application/octet-stream",
     "One of them"},
};

const struct serve_route *serve_route_at(size_t index)
{
    return index < sizeof routes / sizeof routes[0] ? &routes[index] : NULL;
}

/* Whether the path is of the route's form; what stands for the name in braces goes to `word`. */
static bool route_fits(const char *form, const char *path, char word[SERVE_WORD])
{
    size_t begin = strcspn(form, "{");
    word[0] = '\0';
    if (form[begin] == '\0') {
        return strcmp(form, path) == 0;
    }
    if (strncmp(form, path, begin) != 0) {
        return false;
    }
    const char *rest = strchr(form, '}') + 1, *at = path + begin;
    size_t length = strcmp(form + begin, "{path}") == 0 ? strlen(at) : strcspn(at, "/");
    if (length == 0 || length >= SERVE_WORD || strcmp(at + length, rest) != 0) {
        return false;
    }
    memcpy(word, at, length);
    word[length] = '\0';
    return true;
}

unsigned serve_route_find(struct serve_request *request, unsigned method)
{
    unsigned others = 0;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        char word[SERVE_WORD];
        if (!route_fits(routes[i].path, request->path, word)) {
            continue;
        }
        if ((routes[i].methods & method) != 0) {
            memcpy(request->word, word, sizeof word);
            request->route = &routes[i];
            return method;
        }
        others |= routes[i].methods;
    }
    return others;
}

/* ---- parameters ---- */

bool serve_route_has(const struct serve_route *route, const struct param_table *table, const struct param *row)
{
    return param_belongs(table, row) && row->kind != PARAM_PATH && (row->flags & PARAM_HIDDEN) == 0 &&
           (route->takes == NULL || route->takes(row));
}

static enum orr_status route_unknown(const struct serve_route *route, const char *name, struct orr_error *err)
{
    const char *names[PARAM_NAMES_MOST + 1] = {NULL};
    size_t count = 0;
    for (const struct param_table *table = route->tables; table != NULL && table->rows != NULL; table++) {
        for (const struct param *row = table->rows; row->name != NULL && count < PARAM_NAMES_MOST; row++) {
            if (serve_route_has(route, table, row)) {
                names[count++] = row->name;
            }
        }
    }
    const char *near = error_nearest(name, names);
    return error_set(err, ORR_EINVAL, "no parameter \"%.60s\" here%s%s%s", name,
                     near != NULL ? "; did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
}

enum orr_status serve_request_read(struct serve_request *request, void *options, struct orr_error *err)
{
    const struct serve_route *route = request->route;
    enum orr_status status = ORR_OK;
    for (size_t i = 0; status == ORR_OK && i < request->pair_count; i++) {
        const struct serve_pair *pair = &request->pairs[i];
        struct param_found found = {0};
        if (pair->is_used) {
            continue;
        }
        for (const struct param_table *table = route->tables; table != NULL && found.row == NULL && table->rows != NULL;
             table++) {
            const struct param_table one[] = {*table, {0}};
            found = param_find(one, pair->name, strlen(pair->name));
            found.row = found.row != NULL && serve_route_has(route, table, found.row) ? found.row : NULL;
        }
        if (found.row == NULL) {
            status = route_unknown(route, pair->name, err);
        } else {
            bool is_left_out = pair->value[0] == '\0' && found.row->kind == PARAM_FLAG;
            status = param_read(found.row, NULL, is_left_out ? NULL : pair->value, (char *)options + found.at, err);
        }
    }
    return status;
}

/* ---- time ---- */

bool serve_is_late(const struct serve_room *room, const struct serve_request *request)
{
    return atomic_load(&room->is_closing) || (request->until_ns != 0 && clock_now_ns() > request->until_ns);
}
