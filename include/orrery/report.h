/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page to open: results as a single HTML file that needs no network, no server and no other file. It is a template
 * (web/) and a list of documents, the very ones that --json of the commands writes; the page draws each by what it is,
 * and several of one kind side by side. Included by orrery.h.
 */
#ifndef ORRERY_REPORT_H
#define ORRERY_REPORT_H

#include "orrery/run.h"

ORR_BEGIN

struct orr_report;

/* An empty report. `language`: "en" or "zh-TW", what the page is in when it is opened; NULL: "en". `memory_limit`:
 * bytes, for all documents together; 0 = 80 % of the machine. ORR_EINVAL: another language. */
ORR_MUST_CHECK enum orr_status orr_report_open(const char *language, uint64_t memory_limit, struct orr_report **report,
                                               struct orr_error *err);
void orr_report_close(struct orr_report *report); /* NULL is fine */

/* The command that makes what is added from here on, shown as the way to repeat it; NULL: not told. */
ORR_MUST_CHECK enum orr_status orr_report_command(struct orr_report *report, const char *command,
                                                  struct orr_error *err);

/* Adds a document, told apart by its content (docs/report.md): what --json of run, simai, train, plan, sweep, advise,
 * lab list, lab show and lab diff writes, a timeline of --timeline. `name` is the headline, and the file in messages;
 * both are copied. ORR_EINVAL: not JSON, or no document of ours. */
ORR_MUST_CHECK enum orr_status orr_report_add(struct orr_report *report, const char *name, const char *json,
                                              size_t size, struct orr_error *err);

/* A run that was executed: its document, and its timeline where intervals were kept. */
ORR_MUST_CHECK enum orr_status orr_report_add_run(struct orr_report *report, const char *name,
                                                  const struct orr_run *run, struct orr_error *err);

/* What lies at `path`: a file with such a document, plain or compressed; the folder of a `lab run`; a result store,
 * which adds the list of its runs and the newest of them; "STORE:3,5": these runs of the store and what differs between
 * each and the first. */
ORR_MUST_CHECK enum orr_status orr_report_add_file(struct orr_report *report, const char *path, struct orr_error *err);

size_t orr_report_count(const struct orr_report *report); /* documents added */

/* The page, to the file `path`, or to `stream` where that is NULL. The same documents give the same bytes. */
ORR_MUST_CHECK enum orr_status orr_report_write(const struct orr_report *report, const char *path, FILE *stream,
                                                struct orr_error *err);

ORR_END

#endif
