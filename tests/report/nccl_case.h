/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A case of SimAI's flow lists by its name, such as AS_PXN_ENABLE_1n16-gps8-tp16-ep1-A100-TP-AG-1000003: environment,
 * GPUs, GPUs per server, degrees, GPU type, group, collective, bytes.
 */
#ifndef ORR_TESTS_REPORT_NCCL_CASE_H
#define ORR_TESTS_REPORT_NCCL_CASE_H

#include <stddef.h>

/* Our dump of the case, terminated and to be freed; NULL, with a line on standard output, when the name is not one or
 * the dump cannot be made. */
char *nccl_case_dump(const char *name, size_t *size);

#endif
