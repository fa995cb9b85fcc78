/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that the program runs on, as the system's own files tell it: processors, memory and its limit, installed
 * drivers, programs on the search path, and GPUs with their clocks from sysfs. Nothing is started and nothing but
 * small text files is read. Texts live in the caller's arena.
 */
#ifndef ORR_API_DOCTOR_MACHINE_H
#define ORR_API_DOCTOR_MACHINE_H

#include "api/doctor/smi.h"

/* Fills what the report says of system, processors, memory and drivers. ORR_ENOMEM only. */
ORR_MUST_CHECK enum orr_status doctor_machine_look(struct arena *arena, struct doctor_report *report,
                                                   struct orr_error *err);

/* Looks for the programs of the table in this module, along `path` ("/usr/bin:/bin"; NULL: nowhere). */
ORR_MUST_CHECK enum orr_status doctor_parts_look(const char *path, struct arena *arena,
                                                 const struct doctor_part **parts, uint32_t *count,
                                                 struct orr_error *err);

/* GPUs below `sysfs` ("/sys", or the copy of another machine's), in the order of their numbers, put into `smi`. A
 * machine without any has none; a `sysfs` that is no folder is ORR_EIO. */
ORR_MUST_CHECK enum orr_status doctor_sysfs_look(const char *sysfs, struct arena *arena, struct doctor_smi *smi,
                                                 struct orr_error *err);

#endif
