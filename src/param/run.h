/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a run are read by where a kind does not do it (param/run_lists.c). Used by param/run.c alone. */
#ifndef ORR_PARAM_RUN_H
#define ORR_PARAM_RUN_H

#include "param/param.h"

enum orr_status param_run_read_set(const struct param *row, const char *text, void *into, struct orr_error *err);
enum orr_status param_run_read_grow(const struct param *row, const char *text, void *into, struct orr_error *err);
enum orr_status param_run_read_spray(const struct param *row, const char *text, void *into, struct orr_error *err);
enum orr_status param_run_read_jitter(const struct param *row, const char *text, void *into, struct orr_error *err);
enum orr_status param_run_read_job(const struct param *row, const char *text, void *into, struct orr_error *err);
enum orr_status param_run_read_link_down(const struct param *row, const char *text, void *into, struct orr_error *err);

bool param_run_write_set(const struct param *row, const void *from, size_t index, FILE *stream);
bool param_run_write_grow(const struct param *row, const void *from, size_t index, FILE *stream);
bool param_run_write_jitter(const struct param *row, const void *from, size_t index, FILE *stream);
bool param_run_write_job(const struct param *row, const void *from, size_t index, FILE *stream);
bool param_run_write_link_down(const struct param *row, const void *from, size_t index, FILE *stream);

#endif
