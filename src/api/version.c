/* SPDX-License-Identifier: Apache-2.0 */
/* What users ask of the library itself: which one it is, how large its structs are, what its files may say. */
#include <string.h>

#include "config/config.h"
#include "orrery.h"

const char *orr_version(void)
{
    return ORR_VERSION;
}

enum orr_status orr_config_reference(bool json_schema, FILE *stream, struct orr_error *err)
{
    return config_write_reference(json_schema, stream, err);
}

/* Those that other languages fill or read. */
#define STRUCTS(X)                                                                                                     \
    X(orr_coll_machine)                                                                                                \
    X(orr_coll_question)                                                                                               \
    X(orr_coll_sweep)                                                                                                  \
    X(orr_collective_result)                                                                                           \
    X(orr_dimension_result)                                                                                            \
    X(orr_error)                                                                                                       \
    X(orr_finding)                                                                                                     \
    X(orr_gen_options)                                                                                                 \
    X(orr_import_options)                                                                                              \
    X(orr_interval_result)                                                                                             \
    X(orr_link_result)                                                                                                 \
    X(orr_node)                                                                                                        \
    X(orr_notices)                                                                                                     \
    X(orr_op)                                                                                                          \
    X(orr_plan_options)                                                                                                \
    X(orr_progress)                                                                                                    \
    X(orr_rank_result)                                                                                                 \
    X(orr_run_options)                                                                                                 \
    X(orr_sweep_job)                                                                                                   \
    X(orr_sweep_options)                                                                                               \
    X(orr_sweep_plan_options)                                                                                          \
    X(orr_sweep_progress)                                                                                              \
    X(orr_train_options)                                                                                               \
    X(orr_train_written)                                                                                               \
    X(orr_wait)

size_t orr_struct_size(const char *name)
{
    static const struct {
        const char *name;
        size_t size;
    } structs[] = {
#define STRUCT_X(type) {#type, sizeof(struct type)},
        STRUCTS(STRUCT_X)
#undef STRUCT_X
    };
    for (size_t i = 0; i < sizeof structs / sizeof structs[0]; i++) {
        if (strcmp(structs[i].name, name) == 0) {
            return structs[i].size;
        }
    }
    return 0;
}
