/* SPDX-License-Identifier: Apache-2.0 */
/* Everything here is optional in the files: older schemas say it by position in record_param_comms' arguments, newer
 * ones by attribute. What is missing stays "not said". */
#include "convert/pytorch/host/comm.h"

enum { TENSOR_ELEMENTS = 3, TENSOR_WIDTH = 4 };

/* A tensor is [tensor id, storage id, offset, elements, bytes of one, "device"] (spec chakra §4). */
static bool add_tensor(const struct json_item *tensor, uint64_t *sum)
{
    uint64_t elements = 0;
    uint64_t width = 0;
    uint64_t bytes = 0;
    size_t index = 0;
    if (tensor->kind != JSON_ITEM_ARRAY) {
        return true;
    }
    for (const struct json_item *part = json_item_first(tensor); part != json_item_end(tensor) && index <= TENSOR_WIDTH;
         part = json_item_next(part), index++) {
        if ((index == TENSOR_ELEMENTS && !host_item_u64(part, &elements)) ||
            (index == TENSOR_WIDTH && !host_item_u64(part, &width))) {
            return true;
        }
    }
    return !__builtin_mul_overflow(elements, width, &bytes) && !__builtin_add_overflow(*sum, bytes, sum);
}

static bool add_value(const struct json_item *value, uint64_t *sum)
{
    if (value->kind != JSON_ITEM_ARRAY || value->span == 1 || json_item_first(value)->kind != JSON_ITEM_ARRAY) {
        return add_tensor(value, sum);
    }
    for (const struct json_item *inner = json_item_first(value); inner != json_item_end(value);
         inner = json_item_next(inner)) {
        if (!add_tensor(inner, sum)) {
            return false;
        }
    }
    return true;
}

static bool host_comm_is_list(const struct json_item *item)
{
    return item != NULL && item->kind == JSON_ITEM_ARRAY;
}

static bool speaks_of_tensors(const struct json_item *type)
{
    return type->kind == JSON_ITEM_STRING && memmem(type->text, type->length, "Tensor", 6) != NULL;
}

bool host_tensor_bytes(struct host_io io, uint64_t *bytes)
{
    uint64_t sum = 0;
    if (host_comm_is_list(io.values) && host_comm_is_list(io.types)) {
        const struct json_item *value = json_item_first(io.values);
        const struct json_item *type = json_item_first(io.types);
        while (value != json_item_end(io.values) && type != json_item_end(io.types)) {
            if (speaks_of_tensors(type) && !add_value(value, &sum)) {
                return false;
            }
            value = json_item_next(value);
            type = json_item_next(type);
        }
    }
    *bytes = sum;
    return true;
}

static bool host_comm_add_text(struct intern *names, const struct json_item *item, uint32_t *number)
{
    *number = 0;
    return !host_item_is_text(item) || intern_add(names, item->text, item->length, number);
}

static uint64_t host_comm_count_of(const struct json_item *item)
{
    uint64_t value = 0;
    return host_item_u64(item, &value) ? value : UINT64_MAX;
}

/* record_param_comms(tensors, sequence, group, rank, collective, …): group is the pair [name, description] from schema
 * 1.0.3 on and a number before; the rank (root of a broadcast, peer of a send) precedes the collective's name. */
struct arguments {
    const struct json_item *group_name, *group_text, *collective, *rank;
};

static struct arguments find_arguments(struct host_io io)
{
    struct arguments found = {0};
    const struct json_item *before = NULL;
    if (!host_comm_is_list(io.values)) {
        return found;
    }
    for (const struct json_item *value = json_item_first(io.values); value != json_item_end(io.values);
         value = json_item_next(value)) {
        if (value->kind == JSON_ITEM_STRING) {
            found.collective = value;
            found.rank = before;
            return found;
        }
        if (value->kind == JSON_ITEM_ARRAY && value->span == 3 && host_item_is_text(value + 1) &&
            host_item_is_text(value + 2)) {
            found.group_name = value + 1;
            found.group_text = value + 2;
        }
        before = value;
    }
    return found;
}

static const struct json_item *host_comm_either(const struct json_item *first, const struct json_item *second)
{
    return host_item_is_text(first) ? first : second;
}

bool host_comm_read(const struct host_fields *fields, struct intern *names, struct host_comm *comm)
{
    struct host_io inputs = host_fields_inputs(fields);
    const struct json_item *name = fields->at[HOST_FIELD_NAME];
    struct arguments said = {0};
    struct host_comm made = {
        .in_elements = host_comm_count_of(host_field(fields, HOST_FIELD_IN_MSG_NELEMS)),
        .out_elements = host_comm_count_of(host_field(fields, HOST_FIELD_OUT_MSG_NELEMS)),
        .group_size = host_comm_count_of(host_field(fields, HOST_FIELD_PG_SIZE)),
        .rank_start = host_comm_count_of(host_field(fields, HOST_FIELD_GLOBAL_RANK_START)),
        .rank_stride = host_comm_count_of(host_field(fields, HOST_FIELD_GLOBAL_RANK_STRIDE)),
        .root_or_peer = -1,
    };
    if (json_item_is(name, "record_param_comms")) {
        said = find_arguments(inputs);
    }
    if (!host_item_i64(said.rank, &made.root_or_peer) || made.root_or_peer < 0) {
        made.root_or_peer = -1;
    }
    if (!host_tensor_bytes(inputs, &made.tensor_in_bytes)) {
        made.tensor_in_bytes = 0;
    }
    if (!host_tensor_bytes(host_fields_outputs(fields), &made.tensor_out_bytes)) {
        made.tensor_out_bytes = 0;
    }
    if (!host_comm_add_text(names, host_comm_either(host_field(fields, HOST_FIELD_COLLECTIVE_NAME), said.collective),
                            &made.collective) ||
        !host_comm_add_text(names, host_field(fields, HOST_FIELD_DTYPE), &made.dtype) ||
        !host_comm_add_text(names, host_field(fields, HOST_FIELD_IN_SPLIT_SIZE), &made.in_split) ||
        !host_comm_add_text(names, host_field(fields, HOST_FIELD_OUT_SPLIT_SIZE), &made.out_split) ||
        !host_comm_add_text(names, host_comm_either(host_field(fields, HOST_FIELD_PG_NAME), said.group_name),
                            &made.group_name) ||
        !host_comm_add_text(names, host_comm_either(host_field(fields, HOST_FIELD_PG_DESC), said.group_text),
                            &made.group_text)) {
        return false;
    }
    *comm = made;
    return true;
}
