/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descent is greedy: a factor that helps is kept at once. Constants of 0 stay 0 (a network without a rendezvous, a
 * GPU without NVLS), since a factor cannot move them. Starts and bounds are what keeps the protocols apart: without
 * them LL takes LL128's part where that fits as well, and nothing carries over to another machine.
 */
#include "coll/timing/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const double first_step = 0.4;
static const double last_step = 0.01;
enum { attempts = 5 };

static double row_us(const struct timing_row *row)
{
    struct timing_shape shape;
    timing_shape_of(&row->machine, &row->question, &shape);
    enum orr_coll_algo algo = ORR_COLL_ALGO_AUTO;
    enum orr_coll_proto proto = ORR_COLL_PROTO_AUTO;
    return timing_model_best(&row->machine, &shape, &algo, &proto);
}

/* The mean of |ln(model / measured)|. */
static double timing_fit_error(const struct timing_row *rows, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += fabs(log(row_us(&rows[i]) / rows[i].us));
    }
    return count > 0 ? sum / (double)count : 0;
}

static bool improve(const struct timing_constant *constant, double step, const struct timing_row *rows, size_t count,
                    double *best)
{
    double before = *constant->value;
    const double tries[] = {before * (1 + step), before / (1 + step)};
    for (size_t i = 0; i < 2; i++) {
        *constant->value = fmin(fmax(tries[i], constant->least), constant->most);
        double error = timing_fit_error(rows, count);
        if (error < *best - 1e-7) {
            *best = error;
            return true;
        }
    }
    *constant->value = before;
    return false;
}

/* One descent, from the values the constants have. */
static double descend(const struct timing_constant *constants, size_t constant_count, const struct timing_row *rows,
                      size_t count)
{
    double best = timing_fit_error(rows, count);
    for (double step = first_step; step > last_step;) {
        bool improved = false;
        for (size_t i = 0; i < constant_count; i++) {
            improved = (*constants[i].value > 0 && improve(&constants[i], step, rows, count, &best)) || improved;
        }
        step = improved ? step : step / 2;
    }
    return best;
}

/* Where attempt `turn` begins with constant `i`: first at its start, then at half, the same and twice that in turn. */
static double begin_at(const struct timing_constant *constant, size_t i, size_t turn)
{
    static const double factors[] = {0.5, 1, 2};
    double factor = turn == 0 ? 1 : factors[(i * turn + i / 3 + turn) % 3];
    return fmin(fmax(constant->start * factor, constant->least), constant->most);
}

double timing_fit(const struct timing_constant *constants, size_t constant_count, const struct timing_row *rows,
                  size_t count)
{
    double kept[TIMING_CONSTANTS_MOST];
    double least = INFINITY;
    for (size_t turn = 0; turn < attempts; turn++) {
        for (size_t i = 0; i < constant_count; i++) {
            if (*constants[i].value > 0) {
                *constants[i].value = begin_at(&constants[i], i, turn);
            }
        }
        double error = descend(constants, constant_count, rows, count);
        for (size_t i = 0; i < constant_count && error < least; i++) {
            kept[i] = *constants[i].value;
        }
        least = fmin(least, error);
    }
    for (size_t i = 0; i < constant_count; i++) {
        *constants[i].value = kept[i];
    }
    return least;
}

size_t timing_gpu_constants(struct timing_gpu *gpu, struct timing_constant constants[TIMING_CONSTANTS_MOST])
{
    bool wide =
        gpu->link == TIMING_LINK_PCIE; /* through a host's bridges there is no saying what is left of the rate */
    const struct timing_constant all[] = {
        {"base_ll_us", &gpu->base_us[TIMING_LL], 7, 2, 16},
        {"base_ll128_us", &gpu->base_us[TIMING_LL128], 9, 2, 20},
        {"base_simple_us", &gpu->base_us[TIMING_SIMPLE], 20, 3, 60},
        {"ll_us", &gpu->step_us[TIMING_LL], 0.9, 0.15, 1.8},
        {"ll128_us", &gpu->step_us[TIMING_LL128], 1.2, 0.5, 2},
        {"simple_us", &gpu->step_us[TIMING_SIMPLE], 2, 0.5, 6},
        {"share_ll", &gpu->share[TIMING_LL], 0.1, wide ? 0.01 : 0.04, wide ? 0.5 : 0.15},
        {"share_ll128", &gpu->share[TIMING_LL128], 0.5, wide ? 0.02 : 0.35, 0.75},
        {"share_simple", &gpu->share[TIMING_SIMPLE], 0.75, wide ? 0.03 : 0.68, 0.85},
        {"nvls_us", &gpu->nvls_us, 4, 0.5, 10},
        {"nvls_share", &gpu->nvls_share, 0.55, 0.45, 0.75},
        {"p2p_us", &gpu->p2p_us, 0.6, 0.1, 3},
        {"p2p_share", &gpu->p2p_share, 0.7, wide ? 0.03 : 0.35, 0.95},
        {"crowd", &gpu->crowd, 1, 0.1, 3},
    };
    memcpy(constants, all, sizeof all);
    return sizeof all / sizeof all[0];
}

size_t timing_fabric_constants(struct timing_fabric *fabric, struct timing_constant constants[TIMING_CONSTANTS_MOST])
{
    const struct timing_constant all[] = {
        {"start_ll_us", &fabric->start_us[TIMING_LL], 15, 4, 200},
        {"start_ll128_us", &fabric->start_us[TIMING_LL128], 30, 4, 300},
        {"start_simple_us", &fabric->start_us[TIMING_SIMPLE], 60, 4, 1000},
        {"start_nvls_us", &fabric->start_nvls_us, 150, 20, 1500},
        {"hop_ll_us", &fabric->hop_us[TIMING_LL], 5, 2, 40},
        {"hop_ll128_us", &fabric->hop_us[TIMING_LL128], 8, 3, 60},
        {"hop_simple_us", &fabric->hop_us[TIMING_SIMPLE], 16, 5, 90},
        {"share_ll", &fabric->share[TIMING_LL], 0.15, 0.01, 0.4},
        {"share_ll128", &fabric->share[TIMING_LL128], 0.7, 0.2, 0.92},
        {"share_simple", &fabric->share[TIMING_SIMPLE], 0.92, 0.5, 0.99},
        {"tree_share_ll", &fabric->tree_share[TIMING_LL], 0.9, 0.05, 4},
        {"tree_share_ll128", &fabric->tree_share[TIMING_LL128], 0.9, 0.1, 2},
        {"tree_share", &fabric->tree_share[TIMING_SIMPLE], 0.9, 0.3, 1},
        {"p2p_start_us", &fabric->p2p_start_us, 10, 3, 100},
        {"p2p_share_ll", &fabric->p2p_share[0], 0.1, 0.01, 0.5},
        {"p2p_share", &fabric->p2p_share[1], 0.8, 0.3, 1},
        {"peer_ll_us", &fabric->peer_us[0], 5, 1, 30},
        {"peer_us", &fabric->peer_us[1], 10, 2, 60},
        {"small_peer_us", &fabric->small_peer_us, 10, 2, 60},
        {"p2p_fade", &fabric->p2p_fade, 0.2, 0.01, 0.5},
    };
    memcpy(constants, all, sizeof all);
    return sizeof all / sizeof all[0];
}
