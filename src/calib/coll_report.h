/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as text, as rows (JSON, CSV), as a page (Markdown) and as a picture (SVG). */
#ifndef ORR_CALIB_COLL_REPORT_H
#define ORR_CALIB_COLL_REPORT_H

#include "calib/coll_compare.h"

void coll_report_text(const struct coll_compared *compared, FILE *stream);
/* JSON or CSV: a row a machine, then a row an operation over all of them. */
void coll_report_rows(const struct coll_compared *compared, enum orr_form form, FILE *stream);
/* `picture`: a file name for the page to show, or NULL. */
void coll_report_page(const struct coll_compared *compared, const char *picture, FILE *stream);
void coll_report_picture(const struct coll_rows *rows, const struct coll_compared *compared, FILE *stream);

#endif
