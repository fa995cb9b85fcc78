/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a step are chosen so that they add up on both sides: what the device computed, communication that
 * nothing hid, and the rest, which is the host, waiting, and all that a simulation does not have. A part that one side
 * does not know leaves the comparison to those that both know.
 */
#include "calib/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plain.h"
#include "report/number.h"

enum { LABEL = 12 };

/* ---- small things ---- */

static struct report_number calib_report_time_of(double ms)
{
    struct report_number none = {"-"};
    struct report_number minus = {""};
    if (isnan(ms)) {
        return none;
    }
    struct report_number text = report_time(fabs(ms) * 1e6);
    if (ms >= 0) {
        return text;
    }
    (void)snprintf(minus.text, sizeof minus.text, "-%.36s", text.text);
    return minus;
}

static void calib_report_label(const char *text, FILE *stream)
{
    (void)fprintf(stream, "%-*s", LABEL, text);
}

/* ---- both sides ---- */

static void put_real(const struct calib *calib, FILE *stream)
{
    calib_report_label("Measured", stream);
    (void)fprintf(stream, "%s ms a step%s, %" PRIu64 " sample%s", report_fixed(calib->real.step_ms, 3).text,
                  calib->traced ? " under the profiler" : "", calib->samples, calib->samples == 1 ? "" : "s");
    if (!isnan(calib->iqr_ms)) {
        (void)fprintf(stream, ", IQR %s", calib_report_time_of(calib->iqr_ms).text);
    }
    (void)fputc('\n', stream);
    if (calib->traced && !isnan(calib->untraced_ms)) {
        calib_report_label("", stream);
        (void)fprintf(stream, "%s ms without it, %" PRIu64 " sample%s\n", report_fixed(calib->untraced_ms, 3).text,
                      calib->untraced_steps, calib->untraced_steps == 1 ? "" : "s");
    }
}

static void put_sim(const struct calib *calib, FILE *stream)
{
    calib_report_label("Simulated", stream);
    (void)fprintf(stream, "%s ms a step", report_fixed(calib->sim.step_ms, 3).text);
    if (calib->sim_steps > 1) {
        (void)fprintf(stream, ": %s ms for %" PRIu64 " steps",
                      report_fixed(calib->sim.step_ms * (double)calib->sim_steps, 3).text, calib->sim_steps);
    }
    if (calib->run != 0) {
        (void)fprintf(stream, ", run %" PRId64, calib->run);
    }
    (void)fputc('\n', stream);
}

static void put_part_alpha(const char *of, double alpha, double real_ms, double sim_ms, FILE *stream)
{
    if (!isnan(alpha)) {
        calib_report_label("", stream);
        (void)fprintf(stream, "%s of %s: %s measured, %s simulated\n", report_fixed(alpha, 6).text, of,
                      calib_report_time_of(real_ms).text, calib_report_time_of(sim_ms).text);
    }
}

static void put_alpha(const struct calib *calib, FILE *stream)
{
    calib_report_label("Alpha", stream);
    (void)fprintf(stream, "%s", report_fixed(calib->alpha, 6).text);
    if (!isnan(calib->alpha_iqr)) {
        (void)fprintf(stream, ", IQR %s", report_fixed(calib->alpha_iqr, 6).text);
    }
    (void)fprintf(stream, " (%s us a cycle)\n", report_fixed(calib->alpha / 1e3, 7).text);
    put_part_alpha("communication", calib->alpha_comm, calib->real.comm_ms, calib->sim.comm_ms, stream);
    put_part_alpha("compute", calib->alpha_gpu, calib->real.gpu_ms, calib->sim.gpu_ms, stream);
}

static void put_bound(const struct calib *calib, FILE *stream)
{
    if (isnan(calib->lower_bound_ms)) {
        return;
    }
    calib_report_label("Lower bound", stream);
    (void)fprintf(stream, "%s ms a step: %s B over a link at %s Gbps\n", report_fixed(calib->lower_bound_ms, 3).text,
                  report_fixed(calib->bus_bytes, 0).text, report_short(calib->bandwidth_gbps).text);
    if (!isnan(calib->achieved_gbps)) {
        calib_report_label("Achieved", stream);
        (void)fprintf(stream, "%s Gbps: the same bytes in %s\n", report_short(calib->achieved_gbps).text,
                      calib_report_time_of(calib->least_comm_ms).text);
    }
}

/* ---- why they differ ---- */

struct line {
    const char *what;
    double real_ms, sim_ms;
};

static void calib_report_put_line(const struct line *line, FILE *stream)
{
    (void)fprintf(stream, "  %-28s%12s%12s%12s\n", line->what, calib_report_time_of(line->real_ms).text,
                  calib_report_time_of(line->sim_ms).text, calib_report_time_of(line->real_ms - line->sim_ms).text);
}

/* 0 where one side does not know the part: it is then in the rest of both. */
static double calib_report_both(double part, double other)
{
    return isnan(part) || isnan(other) ? 0 : part;
}

static void calib_report_put_parts(const struct calib *calib, FILE *stream)
{
    const struct calib_side *real = &calib->real;
    const struct calib_side *sim = &calib->sim;
    const struct line whole = {"step", real->step_ms, sim->step_ms};
    const struct line compute = {"compute on the device", real->gpu_ms, sim->gpu_ms};
    const struct line exposed = {"communication, exposed", real->exposed_ms, sim->exposed_ms};
    const struct line hidden = {"communication, hidden", real->comm_ms - real->exposed_ms,
                                sim->comm_ms - sim->exposed_ms};
    const struct line rest = {"host, waiting and the rest",
                              real->step_ms - calib_report_both(real->gpu_ms, sim->gpu_ms) -
                                  calib_report_both(real->exposed_ms, sim->exposed_ms),
                              sim->step_ms - calib_report_both(sim->gpu_ms, real->gpu_ms) -
                                  calib_report_both(sim->exposed_ms, real->exposed_ms)};
    (void)fprintf(stream, "\nWhy they differ, a step       %12s%12s%12s\n", "measured", "simulated", "difference");
    calib_report_put_line(&whole, stream);
    if (!isnan(compute.real_ms - compute.sim_ms)) {
        calib_report_put_line(&compute, stream);
    }
    if (!isnan(exposed.real_ms - exposed.sim_ms)) {
        calib_report_put_line(&exposed, stream);
    }
    calib_report_put_line(&rest, stream);
    if (!isnan(hidden.real_ms - hidden.sim_ms)) {
        calib_report_put_line(&hidden, stream);
    }
}

static void calib_report_put_bandwidth(const struct calib *calib, FILE *stream)
{
    if (!calib->bandwidth_too_low) {
        return;
    }
    (void)fprintf(stream,
                  "  The configured bandwidth is lower than the bandwidth the trace achieved: %s Gbps against %s Gbps; "
                  "no simulation at %s Gbps can take less than %s a step, %s more than measured.\n",
                  report_short(calib->bandwidth_gbps).text, report_short(calib->achieved_gbps).text,
                  report_short(calib->bandwidth_gbps).text, calib_report_time_of(calib->lower_bound_ms).text,
                  report_share(calib->lower_bound_ms - calib->least_comm_ms, calib->least_comm_ms).text);
}

static void calib_report_put_reasons(const struct calib *calib, FILE *stream)
{
    if (calib->sim_steps > 1) {
        (void)fprintf(stream,
                      "  Steps: the simulated traces hold %" PRIu64
                      "; held undivided against one measured step, alpha would be %s, %" PRIu64 " times too small.\n",
                      calib->sim_steps, report_fixed(calib->alpha / (double)calib->sim_steps, 6).text,
                      calib->sim_steps);
    }
    calib_report_put_bandwidth(calib, stream);
    if (calib->sim.comm_ms < calib->lower_bound_ms * (1 - 1e-6)) {
        (void)fprintf(stream,
                      "  The simulated communication, %s a step, is below its lower bound: bytes, steps or bandwidth "
                      "are not those of the simulation.\n",
                      calib_report_time_of(calib->sim.comm_ms).text);
    }
    if (!isnan(calib->collectives) && calib->launch_us > 0) {
        (void)fprintf(stream, "  Launching: %s collectives x %s us = %s a step%s.\n",
                      report_short(calib->collectives).text, report_short(calib->launch_us).text,
                      calib_report_time_of(calib->collectives * calib->launch_us / 1e3).text,
                      calib->tuned ? "" : " that the simulation does not have");
    }
    if (!isnan(calib->profiler_us) && !isnan(calib->host_events)) {
        (void)fprintf(stream, "  The profiler: %s events x %s us = %s of a measured step.\n",
                      report_fixed(calib->host_events, 0).text, report_fixed(calib->profiler_us, 3).text,
                      calib_report_time_of(calib->host_events * calib->profiler_us / 1e3).text);
    }
    if (!isnan(calib->untraced_error)) {
        (void)fprintf(stream, "  Without it, steps that it was not fitted on are predicted to within %s.\n",
                      report_share(calib->untraced_error, 1).text);
    }
}

/* ---- rules ---- */

static void put_rules(const struct calib *calib, FILE *stream)
{
    char verdict[160];
    (void)fputs("\nRules\n", stream);
    for (uint32_t i = 0; i < calib->check_count; i++) {
        const struct calib_check *check = &calib->checks[i];
        (void)fprintf(stream, "  %-26s%-26s%-28s%s\n", check->rule, check->limit, check->value,
                      check->holds ? "yes" : "no");
    }
    (void)calib_report_verdict(calib, verdict, sizeof verdict);
    calib_report_label("Verdict", stream);
    (void)fprintf(stream, "%s\n", verdict);
}

const char *calib_report_verdict(const struct calib *calib, char *text, size_t size)
{
    (void)snprintf(text, size, "%s", calib->accepted ? "accepted" : "refused");
    for (uint32_t i = 0; i < calib->check_count && !calib->accepted; i++) {
        if (!calib->checks[i].holds) {
            (void)snprintf(text, size, "refused: %s: %s, where %s is wanted", calib->checks[i].rule,
                           calib->checks[i].value, calib->checks[i].limit);
            break;
        }
    }
    return text;
}

const char *calib_report_flags(const struct calib *calib)
{
    bool equals = calib->sim.comm_ms >= calib->sim.step_ms * (1 - 1e-9);
    bool bare = !(calib->sim.gpu_ms > 0);
    return equals && bare               ? "comm_equals_wall_no_compute"
           : equals                     ? "comm_equals_wall"
           : calib->bandwidth_too_low   ? "bandwidth_too_low"
           : isnan(calib->real.comm_ms) ? "comm_unobserved"
                                        : "";
}

static void put_fitted(const struct calib *calib, FILE *stream)
{
    const struct {
        const char *name, *unit;
        double value;
    } fitted[] = {{"compute factor", "", calib->compute_scale},
                  {"host factor", "", calib->host_factor},
                  {"launch overhead", " us a collective", calib->launch_us},
                  {"link bandwidth", " Gbps", calib->link_gbps},
                  {"link latency", " us", calib->link_latency_us},
                  {"local memory", " GB/s", calib->memory_gbytes_ps}};
    calib_report_label("For a run", stream);
    const char *between = "";
    for (size_t i = 0; i < sizeof fitted / sizeof fitted[0]; i++) {
        if (!isnan(fitted[i].value)) {
            (void)fprintf(stream, "%s%s %s%s", between, fitted[i].name, report_short(fitted[i].value).text,
                          fitted[i].unit);
            between = ", ";
        }
    }
    (void)fputs(between[0] == '\0' ? "nothing to change\n" : "\n", stream);
}

void calib_report_put(const struct calib *calib, FILE *stream)
{
    if (!isnan(calib->alpha)) {
        put_real(calib, stream);
        put_sim(calib, stream);
        put_alpha(calib, stream);
        put_bound(calib, stream);
        calib_report_put_parts(calib, stream);
        calib_report_put_reasons(calib, stream);
        put_rules(calib, stream);
    }
    put_fitted(calib, stream);
}

void calib_report_after(const struct calib *calib, FILE *stream)
{
    calib_report_label("With these", stream);
    (void)fprintf(stream, "%s ms a step simulated, %s ms measured: alpha %s, of communication %s\n",
                  report_fixed(calib->sim.step_ms, 3).text, report_fixed(calib->real.step_ms, 3).text,
                  report_fixed(calib->alpha, 6).text,
                  isnan(calib->alpha_comm) ? "-" : report_fixed(calib->alpha_comm, 6).text);
    if (!isnan(calib->host_factor)) {
        calib_report_label("", stream);
        (void)fprintf(stream, "%s ms a step with the host's operations times %s, %s ms measured without the profiler\n",
                      report_fixed(calib->sim_untraced_ms, 3).text, report_short(calib->host_factor).text,
                      report_fixed(calib->untraced_ms, 3).text);
    }
}

void calib_report_prediction(const struct calib *calib, double sim_step_ms, FILE *stream)
{
    if (isnan(calib->alpha)) {
        return;
    }
    char verdict[160];
    const struct calib_prediction p = calib_predict(calib, sim_step_ms);
    (void)calib_report_verdict(calib, verdict, sizeof verdict);
    calib_report_label("Calibrated", stream);
    (void)fprintf(stream, "%s a step%s where what the simulation lacks stays, %s where it grows along; %s\n",
                  calib_report_time_of(p.added_ms).text, p.is_untraced ? " without the profiler" : "",
                  calib_report_time_of(p.scaled_ms).text, verdict);
    calib_report_label("", stream);
    if (isnan(calib->held_out)) {
        (void)fputs("no measured step was held out: how well this predicts is not known\n", stream);
    } else {
        (void)plain_fprintf(stream, "steps that it was not fitted on are predicted to within %.1f%%\n",
                            100 * calib->held_out);
    }
    if (calib->traced && !p.is_untraced && !isnan(p.untraced_ms) && !isnan(calib->profiler_us)) {
        calib_report_label("", stream);
        (void)fprintf(stream, "%s without the profiler\n", calib_report_time_of(p.untraced_ms).text);
    }
}
