/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions of clusters; io/crew.h does the work. */
#include <stdlib.h>
#include <unistd.h>

#include "io/crew.h"
#include "orrery.h"

enum orr_status orr_cluster_open(struct orr_cluster **cluster, struct orr_error *err)
{
    struct orr_cluster *made = calloc(1, sizeof *made);
    uint32_t rank = 0;
    uint32_t size = 1;
    *cluster = NULL;
    if (made == NULL) {
        return error_set(err, ORR_ENOMEM, "out of memory for a cluster");
    }
    made->listener = -1;
    enum orr_status status = crew_meet(made, &rank, &size, err);
    made->is_worker = rank > 0;
    if (status != ORR_OK || size == 1) {
        orr_cluster_close(made);
        return status;
    }
    *cluster = made;
    return ORR_OK;
}

void orr_cluster_close(struct orr_cluster *cluster)
{
    if (cluster != NULL && cluster->listener >= 0) {
        (void)close(cluster->listener);
    }
    free(cluster);
}

bool orr_cluster_is_worker(const struct orr_cluster *cluster)
{
    return cluster != NULL && cluster->is_worker;
}
