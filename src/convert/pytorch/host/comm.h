/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host node says about communication: its attributes, its process group argument, the bytes of its tensors.
 * Fills a struct host_comm (host.h); decides nothing about collectives.
 */
#ifndef ORR_CONVERT_PYTORCH_HOST_COMM_H
#define ORR_CONVERT_PYTORCH_HOST_COMM_H

#include "convert/pytorch/host/fields.h"
#include "convert/pytorch/host/host.h"

/* False when memory is refused. */
ORR_MUST_CHECK bool host_comm_read(const struct host_fields *fields, struct intern *names, struct host_comm *comm);

/* The bytes of the tensors among `values`, those in lists included: elements times width, as listed. Values that are no
 * tensor count nothing; false when the sum does not fit 64 bits. */
bool host_tensor_bytes(struct host_io io, uint64_t *bytes);

#endif
