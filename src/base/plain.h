/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text, always with a point: printf and strtod follow the locale that the program around the library has
 * chosen, which may write 1,5 for one and a half; files and messages here mean the same everywhere. Whatever prints or
 * reads a fraction goes through these. They change nothing but the calling thread, and only while they run.
 */
#ifndef ORR_BASE_PLAIN_H
#define ORR_BASE_PLAIN_H

#include <stdarg.h>
#include <stdio.h>

#include "orrery/base.h"

/* As the C library's functions without "plain_" in the locale "C". */
double plain_strtod(const char *text, char **end);
int plain_snprintf(char *text, size_t room, const char *fmt, ...) ORR_PRINTF(3, 4);
int plain_vsnprintf(char *text, size_t room, const char *fmt, va_list args) ORR_PRINTF(3, 0);
int plain_fprintf(FILE *stream, const char *fmt, ...) ORR_PRINTF(2, 3);

#endif
