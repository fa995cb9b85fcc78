/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models without attention: convolutions (ResNet, VGG), tables of embeddings (DLRM), linear layers alone. One piece
 * each, the whole network with its loss, as PyTorch issues it. No time in here.
 */
#ifndef ORR_TRAIN_WORK_NETWORK_H
#define ORR_TRAIN_WORK_NETWORK_H

#include "train/work.h"

void network_piece(const struct work_job *job, struct work_piece *piece);

#endif
