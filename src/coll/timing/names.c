/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the lists in orrery/colltime.h. */
#include <stddef.h>

#include "orrery/colltime.h"

#define ORR_COLL_X(name, word) word,
static const char *const ops[] = {ORR_COLL_OPS(ORR_COLL_X)};
static const char *const algos[] = {ORR_COLL_ALGOS(ORR_COLL_X)};
static const char *const protos[] = {ORR_COLL_PROTOS(ORR_COLL_X)};
static const char *const methods[] = {ORR_COLL_METHODS(ORR_COLL_X)};
#undef ORR_COLL_X

const char *orr_coll_op_name(enum orr_coll_op op)
{
    return (size_t)op < sizeof ops / sizeof ops[0] ? ops[op] : "?";
}

const char *orr_coll_algo_name(enum orr_coll_algo algo)
{
    return (size_t)algo < sizeof algos / sizeof algos[0] ? algos[algo] : "?";
}

const char *orr_coll_proto_name(enum orr_coll_proto proto)
{
    return (size_t)proto < sizeof protos / sizeof protos[0] ? protos[proto] : "?";
}

const char *orr_coll_method_name(enum orr_coll_method method)
{
    return (size_t)method < sizeof methods / sizeof methods[0] ? methods[method] : "?";
}
