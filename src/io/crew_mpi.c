/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MPI for as long as it takes to tell all processes one line. It is left before any work is done: mpirun ends the whole
 * job when a process dies by a signal, also after MPI_Finalize (Open MPI 4.1, tried). So each worker ends well at once,
 * for the launcher, and goes on as a child of its own; mpirun waits for these, whose standard streams are still its.
 */
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <mpi.h>

#include "io/crew.h"

enum orr_status crew_meet(struct orr_cluster *cluster, uint32_t *rank, uint32_t *size, struct orr_error *err)
{
    int own = 0;
    int all = 1;
    enum orr_status status = ORR_OK;
    *rank = 0;
    *size = 1;
    if (!crew_is_started_with_others()) {
        return ORR_OK;
    }
    bool met = MPI_Init(NULL, NULL) == MPI_SUCCESS && MPI_Comm_rank(MPI_COMM_WORLD, &own) == MPI_SUCCESS &&
               MPI_Comm_size(MPI_COMM_WORLD, &all) == MPI_SUCCESS;
    if (met && own == 0) {
        status = crew_listen(cluster, err); /* an empty place tells the others that it failed */
    }
    met = met && MPI_Bcast(cluster->place, CREW_PLACE_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD) == MPI_SUCCESS &&
          MPI_Finalize() == MPI_SUCCESS;
    if (!met) {
        return error_set(err, ORR_EFAIL, "MPI could not be begun");
    }
    if (all == 1 && status == ORR_OK) {
        return error_set(err, ORR_EINVAL,
                         "several processes were started, and MPI knows of one alone: start them by mpirun, or by srun "
                         "--mpi=pmix");
    }
    *rank = (uint32_t)own;
    *size = (uint32_t)all;
    if (own != 0) {
        pid_t child = fork();
        if (child > 0) {
            _exit(0);
        }
        if (child < 0) {
            return error_set(err, ORR_ENOMEM, "no process for a worker");
        }
    }
    return status;
}
