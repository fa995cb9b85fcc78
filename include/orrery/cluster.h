/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes on several machines that work on one thing: started by mpirun or srun (a library built with MPI), they find
 * each other here, and a sweep or a search for plans that is given them is divided among them (docs/cluster.md).
 * Included by orrery.h.
 */
#ifndef ORRERY_CLUSTER_H
#define ORRERY_CLUSTER_H

#include "orrery/base.h"

ORR_BEGIN

struct orr_cluster;

/* `*cluster` is NULL where this process was started alone. To be called once, by all of them, before there are other
 * threads. All but the first process go on as another one, detached from the launcher, so that the death of one ends
 * no other. ORR_EINVAL: there are several, and the library was built without MPI. */
ORR_MUST_CHECK enum orr_status orr_cluster_open(struct orr_cluster **cluster, struct orr_error *err);
void orr_cluster_close(struct orr_cluster *cluster); /* NULL is fine */

/* Whether this process only works for the first one: what it runs gives no results here. */
bool orr_cluster_is_worker(const struct orr_cluster *cluster);

ORR_END

#endif
