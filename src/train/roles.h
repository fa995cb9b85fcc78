/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ranks of a pipeline stage do in one step, as nodes: the lists of train/work.h in the order a framework
 * issues them, collectives on their groups, sends and receives as the schedule has them, gradients summed and weights
 * gathered beside compute, the optimizer. All ranks of a stage do the same and differ only in groups and peers, which
 * convert/text/work.h knows by arithmetic; so a stage is built once. Knows no file and no network.
 */
#ifndef ORR_TRAIN_ROLES_H
#define ORR_TRAIN_ROLES_H

#include "convert/text/work.h"
#include "train/step.h"

/* What a node is part of: work_node.mark. Those before ROLE_LAUNCH are kernels, ROLE_LAUNCH is the host's. */
enum role_part {
    ROLE_FORWARD,
    ROLE_BACKWARD,
    ROLE_OPTIMIZER,
    ROLE_LAUNCH,
    ROLE_TP,
    ROLE_CP,
    ROLE_EP,
    ROLE_DP,
    ROLE_SEND,
    ROLE_RECV,
    ROLE_PARTS
};

struct role_request {
    const struct work_job *job;
    const struct step_layout *layout;
    const struct cost_machine *machine;
    bool merged; /* kernels between two communications are one node, else each its own */
};

/* Whether there are such nodes: ORR_EINVAL names the schedule or the division that has none. */
ORR_MUST_CHECK enum orr_status role_check(const struct orr_train_plan *plan, struct orr_error *err);

/* The groups of the job, in `layouts` (WORK_GROUPS of them). */
void role_layouts(const struct orr_train_plan *plan, struct work_layout *layouts);

/* `work` is initialised; its groups are laid out too. The nodes of one stage. ORR_ENOMEM where the account refuses. */
ORR_MUST_CHECK enum orr_status role_build(const struct role_request *request, uint32_t stage, struct work *work,
                                          struct orr_error *err);

#endif
