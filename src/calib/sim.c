/* SPDX-License-Identifier: Apache-2.0 */
/* Bandwidths of several dimensions are added: a rank's links carry at once, so that the bound stays a bound. */
#include "calib/sim.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "calib/network.h"
#include "coll/impl.h"
#include "lab/store/read.h"
#include "run/machine_files.h"
#include "run/type_word.h"

/* Over the busiest link of a rank, all of its operations; barriers and receives move nothing of their own. */
static void add_traffic(struct calib_sim *sim, const struct store_view *view)
{
    double world = (double)view->run.world;
    sim->bus_bytes = 0;
    sim->collectives = 0;
    for (uint32_t i = 0; i < view->collective_count && world > 0; i++) {
        const struct store_collective *row = &view->collectives[i];
        double count = (double)row->count / world;
        int32_t type = 0;
        uint32_t ranks = row->group_size > INT32_MAX ? INT32_MAX : (uint32_t)row->group_size;
        if (strcmp(row->type, "send") == 0) {
            sim->bus_bytes += count * (double)row->bytes;
        } else if (type_word_parse(row->type, &type, NULL) == ORR_OK) {
            sim->bus_bytes += count * (double)row->bytes * coll_bus_factor(type, ranks);
        }
        sim->collectives += count;
    }
}

static enum orr_status find_rates(struct calib_sim *sim, const struct store_view *view, struct arena *arena,
                                  struct orr_error *err)
{
    for (uint32_t i = 0; i < view->setting_count; i++) {
        struct run_quantities list = {0};
        uint64_t bits = 0;
        if (strcmp(view->settings[i].key, "bandwidth") == 0) {
            enum orr_status status = run_rates_read("bandwidth", view->settings[i].value, arena, &list, err);
            if (status != ORR_OK) {
                return status;
            }
            for (uint32_t k = 0; k < list.count; k++) {
                bits += list.value[k];
            }
            sim->bandwidth_gbps = (double)bits / 1e9;
        } else if (strcmp(view->settings[i].key, "launch-overhead") == 0) {
            enum orr_status status = run_times_read("launch-overhead", view->settings[i].value, arena, &list, err);
            if (status != ORR_OK) {
                return status;
            }
            sim->launch_us = (double)list.value[0] / 1e3;
        } else if (strcmp(view->settings[i].key, "compute-factor") == 0) {
            double factor = plain_strtod(view->settings[i].value, NULL);
            sim->compute_factor = factor > 0 && isfinite(factor) ? factor : 1;
        }
    }
    return ORR_OK;
}

/* Of the rank with most, as the run's other times. */
static enum orr_status find_exposed(struct lab_store *store, struct calib_sim *sim, struct orr_error *err)
{
    struct io_statement *statement = NULL;
    bool row = false;
    enum orr_status status = io_statement_prepare(
        lab_store_database(store), "SELECT max(exposed_comm_ns) FROM rank WHERE run = ?1", &statement, err);
    if (status == ORR_OK) {
        io_bind_int(statement, 1, sim->run);
        status = io_statement_step(statement, &row, err);
    }
    if (status == ORR_OK && row && !io_column_is_null(statement, 0)) {
        sim->exposed_ns = io_column_real(statement, 0);
    }
    io_statement_free(statement);
    return status;
}

enum orr_status calib_sim_read(struct lab_store *store, int64_t run, struct arena *arena, struct calib_sim *sim,
                               struct orr_error *err)
{
    struct store_view view;
    struct calib_sim made = calib_sim_none();
    enum orr_status status = store_read_view(store, run, STORE_READ_RESULTS, arena, &view, err);
    if (status != ORR_OK) {
        return status;
    }
    if (strcmp(view.run.state, lab_run_state_word(LAB_RUN_DONE)) != 0) {
        return error_set(err, ORR_EINVAL, "run %" PRId64 " is %s: a calibration needs one that is done", view.run.id,
                         view.run.state);
    }
    made.run = view.run.id;
    made.tag = view.run.tag;
    made.topology = view.run.topology;
    made.wall_ns = (double)view.run.total_ns;
    made.comm_ns = (double)view.run.comm_ns;
    made.gpu_ns = (double)view.run.compute_ns;
    made.steps = view.run.steps;
    made.ranks = view.run.world > INT32_MAX ? 0 : (uint32_t)view.run.world;
    add_traffic(&made, &view);
    status = find_rates(&made, &view, arena, err);
    status = status != ORR_OK ? status : find_exposed(store, &made, err);
    if (status == ORR_OK) {
        *sim = made;
    }
    return status;
}
