/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of the cost model: reads the list, finds the machines, makes a bill of each, hands them to
 * report/. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/notices.h"
#include "io/file.h"
#include "lab/cost/cost.h"
#include "lab/cost/machine.h"

struct costing {
    const struct orr_cost_options *options;
    struct mem mem;
    struct arena arena;
    struct notes notes;
    struct lab_store *store;
    struct cost_prices prices;
    struct cost_report report;
};

static enum orr_status read_prices(struct costing *c, struct orr_error *err)
{
    const char *path = c->options->prices;
    if (path == NULL) {
        return cost_prices_parse("example prices", cost_prices_example, strlen(cost_prices_example), &c->arena,
                                 &c->notes, &c->prices, err);
    }
    struct file_buffer buffer;
    file_buffer_init(&buffer, &c->mem);
    enum orr_status status = file_buffer_read(&buffer, path, err);
    if (status == ORR_OK) {
        status =
            cost_prices_parse(path, (const char *)buffer.bytes, buffer.size, &c->arena, &c->notes, &c->prices, err);
    }
    file_buffer_free(&buffer);
    return status;
}

static enum orr_status api_cost_open_store(struct costing *c, struct orr_error *err)
{
    for (size_t i = 0; i < c->options->machine_count; i++) {
        if (c->options->machines[i].run != ORR_COST_NO_RUN) {
            return lab_store_open(c->options->store == NULL ? "runs/orrery.db" : c->options->store, IO_DATABASE_READ,
                                  &c->store, err);
        }
    }
    return ORR_OK;
}

static enum orr_status make_bills(struct costing *c, struct orr_error *err)
{
    const struct orr_cost_options *options = c->options;
    struct cost_bill *bills = arena_zalloc(&c->arena, options->machine_count * sizeof *bills);
    enum orr_status status = ORR_OK;
    if (bills == NULL) {
        return mem_error(&c->mem, "the bills", err);
    }
    for (size_t i = 0; i < options->machine_count && status == ORR_OK; i++) {
        struct cost_machine machine;
        status = cost_machine_find(&options->machines[i], c->store, &c->arena, &c->notes, &machine, err);
        if (status == ORR_OK) {
            status = cost_bill_make(&c->prices, &machine.count, machine.title, &c->arena, &c->notes, &bills[i], err);
        }
        if (status == ORR_OK) {
            bills[i].step_ns = machine.step_ns;
            bills[i].run = machine.run;
        }
    }
    c->report = (struct cost_report){.currency = c->prices.currency[0] == '\0' ? "units" : c->prices.currency,
                                     .prices = options->prices == NULL ? "examples" : options->prices,
                                     .lifetime_years = c->prices.lifetime_years,
                                     .utilisation = c->prices.utilisation,
                                     .electricity = c->prices.electricity,
                                     .pue = c->prices.pue,
                                     .samples = options->samples,
                                     .bills = bills,
                                     .bill_count = (uint32_t)options->machine_count};
    return status;
}

/* Up to the bills; whatever comes of it, api_cost_end follows. */
static enum orr_status api_cost_begin(struct costing *c, const struct orr_notices *notices, struct orr_error *err)
{
    arena_init(&c->arena, &c->mem);
    notices_begin(&c->notes, &c->mem, notices);
    if (c->options->machine_count == 0 || c->options->machine_count > UINT32_MAX) {
        return error_set(err, ORR_EINVAL, "no machine to count");
    }
    enum orr_status status = read_prices(c, err);
    if (status == ORR_OK) {
        status = api_cost_open_store(c, err);
    }
    if (status == ORR_OK) {
        status = make_bills(c, err);
    }
    if (status == ORR_OK && c->options->prices == NULL) {
        status = notes_add(&c->notes, err,
                           "the prices are examples: orrery cost parameter 'template' prints them, to be put right");
    }
    return status;
}

static void api_cost_end(struct costing *c, const struct orr_notices *notices)
{
    lab_store_close(c->store);
    notices_end(&c->notes, notices);
    arena_free(&c->arena);
}

enum orr_status orr_cost(const struct orr_cost_options *options, bool json, const struct orr_notices *notices,
                         FILE *stream, struct orr_error *err)
{
    struct costing c = {.options = options};
    enum orr_status status = api_cost_begin(&c, notices, err);
    if (status == ORR_OK) {
        (json ? cost_json_put : cost_text_put)(&c.report, stream);
        status = error_of_stream(stream, "the bill", err);
    }
    api_cost_end(&c, notices);
    return status;
}

enum orr_status orr_cost_gpu_hour(const struct orr_cost_options *options, const struct orr_notices *notices,
                                  double *price, char currency[ORR_COST_CURRENCY], struct orr_error *err)
{
    struct costing c = {.options = options};
    enum orr_status status = api_cost_begin(&c, notices, err);
    if (status == ORR_OK) {
        const struct cost_bill *bill = &c.report.bills[0];
        double hour = bill->hour_price + bill->hour_power;
        if (isnan(hour) || bill->gpus == 0) {
            status = error_set(err, ORR_EINVAL, "%s: no price of an hour: the list has no 'lifetime'", c.report.prices);
        } else {
            *price = hour / (double)bill->gpus;
            (void)snprintf(currency, ORR_COST_CURRENCY, "%s", c.report.currency);
        }
    }
    api_cost_end(&c, notices);
    return status;
}

enum orr_status orr_cost_template(FILE *stream, struct orr_error *err)
{
    (void)fputs(cost_prices_example, stream);
    return error_of_stream(stream, "the price list", err);
}
