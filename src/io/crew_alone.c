/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of io/crew_mpi.c where MPI was not asked for when the program was built. */
#include "io/crew.h"

enum orr_status crew_meet(struct orr_cluster *cluster, uint32_t *rank, uint32_t *size, struct orr_error *err)
{
    (void)cluster;
    *rank = 0;
    *size = 1;
    return crew_is_started_with_others()
               ? error_set(err, ORR_EINVAL,
                           "several processes were started, and this program was built without MPI: build it with "
                           "-Dmpi=enabled, or divide a sweep by parameter 'shard'")
               : ORR_OK;
}
