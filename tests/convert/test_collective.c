/* SPDX-License-Identifier: Apache-2.0 */
/* One communication's facts from what speaks of it. A case is a few texts and numbers; the fixture turns them into the
 * structs that the readers of device and host traces make. */
#include "convert/pytorch/collective/collective.h"
#include "tests/check.h"

#define UNSAID UINT64_MAX

static struct mem mem;
static struct orr_error err;

/* What an event of the device trace says; NULL and 0 where it says nothing. */
struct args {
    const char *collective, *dtype, *group, *split;
    uint64_t in, out, members, input_bytes; /* 0 = not said */
    int64_t src, dst;                       /* only with has_peer */
    bool has_peer;
};

struct op {
    const char *name;
    const struct args *args;
    const char *collective, *dtype, *group, *split; /* of the host trace */
    uint64_t in, out, members, tensor_in, tensor_out;
    int64_t member; /* root or peer; only with has_member */
    bool has_host, has_member;
};

enum { OPS = 4 };

struct bench {
    struct intern names;
    struct kineto_comm device, op_args[OPS];
    struct host_comm host[OPS];
    struct comm_op ops[OPS];
    struct comm_groups groups;
    struct comm_clue clue;
};

static uint32_t number(struct intern *names, const char *text)
{
    uint32_t at = 0;
    CHECK(text == NULL || intern_add(names, text, strlen(text), &at), "%s", text);
    return at;
}

static uint64_t said(uint64_t value)
{
    return value == 0 ? UNSAID : value;
}

static struct kineto_comm kineto(struct bench *bench, const struct args *args)
{
    struct intern *names = &bench->names;
    return (struct kineto_comm){.collective = number(names, args->collective),
                                .dtype = number(names, args->dtype),
                                .group_name = number(names, args->group),
                                .in_split = number(names, args->split),
                                .in_elements = said(args->in),
                                .out_elements = said(args->out),
                                .group_size = said(args->members),
                                .input_bytes = said(args->input_bytes),
                                .src_rank = args->has_peer ? args->src : -1,
                                .dst_rank = args->has_peer ? args->dst : -1};
}

/* Four ranks, rank 1 looking on; groups "0" of all, "7" of 1 and 3, "8" of 1, 2 and 3. */
static void open_bench(struct bench *bench, const char *kernel, const struct args *device, const struct op *ops)
{
    *bench = (struct bench){0};
    intern_init(&bench->names, &mem);
    comm_groups_init(&bench->groups, &mem);
    CHECK_OK(comm_groups_add_list(&bench->groups, 1, "0", "", NULL, 0, "d", &err), &err);
    CHECK_OK(comm_groups_add_list(&bench->groups, 1, "7", "", (const int64_t[]){1, 3}, 2, "d", &err), &err);
    CHECK_OK(comm_groups_add_list(&bench->groups, 1, "8", "", (const int64_t[]){1, 2, 3}, 3, "d", &err), &err);
    CHECK_OK(comm_groups_settle(&bench->groups, 4, &err), &err);
    uint32_t count = 0;
    for (; ops != NULL && count < OPS && ops[count].name != NULL; count++) {
        const struct op *op = &ops[count];
        bench->op_args[count] = op->args == NULL ? (struct kineto_comm){0} : kineto(bench, op->args);
        bench->host[count] = (struct host_comm){.collective = number(&bench->names, op->collective),
                                                .dtype = number(&bench->names, op->dtype),
                                                .group_name = number(&bench->names, op->group),
                                                .in_split = number(&bench->names, op->split),
                                                .in_elements = said(op->in),
                                                .out_elements = said(op->out),
                                                .group_size = said(op->members),
                                                .tensor_in_bytes = op->tensor_in,
                                                .tensor_out_bytes = op->tensor_out,
                                                .root_or_peer = op->has_member ? op->member : -1};
        bench->ops[count] = (struct comm_op){.name = op->name,
                                             .host = op->has_host ? &bench->host[count] : NULL,
                                             .kineto = op->args == NULL ? NULL : &bench->op_args[count]};
    }
    bench->device = device == NULL ? (struct kineto_comm){0} : kineto(bench, device);
    bench->clue = (struct comm_clue){.node = "device_1.json: node 9",
                                     .device_name = kernel,
                                     .device = device == NULL ? NULL : &bench->device,
                                     .ops = bench->ops,
                                     .op_count = count,
                                     .host_names = &bench->names,
                                     .kineto_names = &bench->names,
                                     .groups = &bench->groups,
                                     .rank = 1};
}

static void close_bench(struct bench *bench)
{
    comm_groups_free(&bench->groups);
    intern_free(&bench->names);
}

static const char generic[] = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)";
static const char send_recv[] = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
static const char all_reduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

static const struct args allreduce_args = {
    .collective = "allreduce", .dtype = "Float", .in = 100, .out = 100, .members = 4};
static const struct args gather_args = {
    .collective = "_allgather_base", .dtype = "BFloat16", .in = 100, .out = 400, .members = 4, .group = "0"};
static const struct args gather_out_args = {
    .collective = "_allgather_base", .dtype = "BFloat16", .out = 400, .members = 4, .group = "0"};
static const struct args scatter_args = {.collective = "_reduce_scatter_base", .dtype = "Half", .in = 400, .out = 100};
static const struct args scatter_out_args = {
    .collective = "_reduce_scatter_base", .dtype = "Half", .out = 100, .members = 4};
static const struct args a2a_args = {
    .collective = "all_to_allv", .dtype = "Float", .in = 1200, .out = 900, .split = "[1, 1, 2, 8]", .members = 4};
static const struct args a2a_even_args = {
    .collective = "all_to_all", .dtype = "Float", .in = 1200, .split = "[3, 3, 3, 3]", .members = 4};
static const struct args a2a_cut_args = {
    .collective = "all_to_allv", .dtype = "Float", .in = 1200, .split = "[1, 9, ...]", .members = 4};
static const struct args root_gather_args = {.collective = "gather", .dtype = "Int", .in = 10, .out = 40, .members = 4};
static const struct args root_scatter_args = {.collective = "scatter", .dtype = "Int", .out = 10, .members = 4};
static const struct args barrier_args = {.collective = "barrier", .dtype = "Byte", .group = "0"};
static const struct args dims_args = {.input_bytes = 5000};
static const struct args no_dtype_args = {.collective = "allreduce", .in = 100};

static const struct {
    const char *what, *kernel;
    const struct args *device;
    struct op ops[OPS];
    enum comm_kind kind;
    uint64_t bytes, peer_max;
    enum provenance type_from, size_from;
} cases[] = {
    {"arguments of the kernel",
     all_reduce,
     &allreduce_args,
     {{0}},
     COMM_ALL_REDUCE,
     400,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"arguments go before names",
     generic,
     &gather_args,
     {{.name = "c10d::allreduce_"}},
     COMM_ALL_GATHER,
     200,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"an all-gather is what one rank puts in",
     generic,
     &gather_out_args,
     {{0}},
     COMM_ALL_GATHER,
     200,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"a reduce-scatter is the whole input",
     generic,
     &scatter_args,
     {{0}},
     COMM_REDUCE_SCATTER,
     800,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"also when only its output is said",
     generic,
     &scatter_out_args,
     {{0}},
     COMM_REDUCE_SCATTER,
     800,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"an all-to-all is all a rank sends, with its largest part",
     send_recv,
     &a2a_args,
     {{0}},
     COMM_ALL_TO_ALL,
     4800,
     3200,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"even splits leave no note",
     send_recv,
     &a2a_even_args,
     {{0}},
     COMM_ALL_TO_ALL,
     4800,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"neither do splits that are cut off",
     send_recv,
     &a2a_cut_args,
     {{0}},
     COMM_ALL_TO_ALL,
     4800,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"a gather is the root's buffer",
     send_recv,
     &root_gather_args,
     {{0}},
     COMM_GATHER,
     160,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"so is a scatter",
     send_recv,
     &root_scatter_args,
     {{0}},
     COMM_SCATTER,
     160,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_KINETO_ARGS},
    {"a barrier needs no size",
     all_reduce,
     &barrier_args,
     {{0}},
     COMM_BARRIER,
     0,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_NEEDS_NONE},
    {"attributes of the launching record_param_comms",
     generic,
     NULL,
     {{.name = "nccl:all_reduce"},
      {.name = "record_param_comms", .has_host = true, .collective = "allreduce", .dtype = "Float", .in = 50},
      {.name = "c10d::allreduce_", .has_host = true, .tensor_in = 200, .tensor_out = 200}},
     COMM_ALL_REDUCE,
     200,
     0,
     PROVENANCE_COMM_ATTRS,
     PROVENANCE_COMM_ATTRS},
    {"one level only, not the sum of three that list the same tensors",
     generic,
     NULL,
     {{.name = "nccl:all_reduce", .has_host = true, .tensor_in = 200},
      {.name = "record_param_comms", .has_host = true, .tensor_in = 200, .tensor_out = 200},
      {.name = "c10d::allreduce_", .has_host = true, .tensor_in = 200, .tensor_out = 200}},
     COMM_ALL_REDUCE,
     200,
     0,
     PROVENANCE_OP_NAME,
     PROVENANCE_OP_TENSORS},
    {"elements without a type are no size",
     generic,
     &no_dtype_args,
     {{.name = "nccl:all_reduce", .args = &dims_args}},
     COMM_ALL_REDUCE,
     5000,
     0,
     PROVENANCE_KINETO_ARGS,
     PROVENANCE_OP_TENSORS},
    {"a c10d all-gather lists its result among its inputs",
     generic,
     NULL,
     {{.name = "c10d::_allgather_base_", .has_host = true, .tensor_in = 500, .tensor_out = 400}},
     COMM_ALL_GATHER,
     100,
     0,
     PROVENANCE_OP_NAME,
     PROVENANCE_HOST_INPUTS},
    {"a functional op does not",
     generic,
     NULL,
     {{.name = "_c10d_functional::all_gather_into_tensor", .has_host = true, .tensor_in = 100, .tensor_out = 400}},
     COMM_ALL_GATHER,
     100,
     0,
     PROVENANCE_OP_NAME,
     PROVENANCE_OP_TENSORS},
    {"an annotation of the user's",
     generic,
     NULL,
     {{.name = "nccl:all_reduce|bytes=4096|pg=0"}},
     COMM_ALL_REDUCE,
     4096,
     0,
     PROVENANCE_ANNOTATION,
     PROVENANCE_ANNOTATION},
    {"the kernel's name, and tensors",
     all_reduce,
     NULL,
     {{.name = "record_param_comms", .has_host = true, .tensor_in = 64}},
     COMM_ALL_REDUCE,
     64,
     0,
     PROVENANCE_KERNEL_NAME,
     PROVENANCE_OP_TENSORS},
    {"gloo on the host",
     "",
     NULL,
     {{.name = "gloo:all_reduce", .has_host = true, .tensor_in = 2102824}},
     COMM_ALL_REDUCE,
     2102824,
     0,
     PROVENANCE_GLOO,
     PROVENANCE_GLOO},
};

static void the_best_evidence_decides_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        struct comm_fact fact = {0};
        open_bench(&bench, cases[i].kernel, cases[i].device, cases[i].ops);
        enum orr_status status = comm_resolve(&bench.clue, &fact, &err);
        CHECK(status == ORR_OK, "%s: %s", cases[i].what, err.text);
        CHECK(fact.kind == cases[i].kind, "%s: %s", cases[i].what, comm_kind_text(fact.kind));
        CHECK_U64(fact.bytes, cases[i].bytes, "%s", cases[i].what);
        CHECK_U64(fact.peer_max_bytes, cases[i].peer_max, "%s", cases[i].what);
        CHECK(fact.type_from == cases[i].type_from, "%s: type from %s", cases[i].what, provenance_name(fact.type_from));
        CHECK(fact.size_from == cases[i].size_from, "%s: size from %s", cases[i].what, provenance_name(fact.size_from));
        close_bench(&bench);
    }
    CHECK_U64(mem.used, 0, "all memory is given back");
}

static void other_work_is_no_communication(void **state)
{
    (void)state;
    static const struct args waits = {.collective = "wait"};
    static const struct {
        const char *kernel;
        struct op ops[OPS];
    } others[] = {
        {"Memcpy DtoD (Device -> Device)", {{.name = "nccl:all_reduce"}, {.name = "c10d::allreduce_"}}},
        {"void at::native::reduce_kernel<512>(int)", {{.name = "aten::sum"}}},
        {"", {{.name = "aten::gather"}, {.name = "c10d::allreduce_"}}},
        {"", {{.name = "record_param_comms", .args = &waits}}},
        {"", {{0}}},
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct bench bench;
        struct comm_fact fact = {0};
        open_bench(&bench, others[i].kernel, i == 0 ? &allreduce_args : NULL, others[i].ops);
        CHECK_OK(comm_resolve(&bench.clue, &fact, &err), &err);
        CHECK(fact.kind == COMM_NONE, "case %zu", i);
        close_bench(&bench);
    }
}

static void a_generic_kernel_without_evidence_is_an_error_that_says_what_would_settle_it(void **state)
{
    (void)state;
    struct bench bench;
    struct comm_fact fact = {.bytes = 7};
    open_bench(&bench, generic, NULL, (const struct op[OPS]){{.name = "hipLaunchKernel"}});
    CHECK_STATUS(comm_resolve(&bench.clue, &fact, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "device_1.json: node 9: \"ncclDevKernel_Generic_4");
    CHECK_CONTAINS(err.text, "record_param_comms");
    CHECK_U64(fact.bytes, 7, "an output is written only on success");
    close_bench(&bench);
}

static void an_unknown_size_is_an_error_unless_one_is_given(void **state)
{
    (void)state;
    struct bench bench;
    struct comm_fact fact = {0};
    open_bench(&bench, all_reduce, NULL, NULL);
    CHECK_STATUS(comm_resolve(&bench.clue, &fact, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "all-reduce of unknown size");
    CHECK_CONTAINS(err.text, "parameter 'unknown-size'");
    bench.clue.has_unknown_size = true;
    bench.clue.unknown_size = 1024;
    CHECK_OK(comm_resolve(&bench.clue, &fact, &err), &err);
    CHECK_U64(fact.bytes, 1024, "as given");
    CHECK(fact.size_from == PROVENANCE_GIVEN && fact.type_from == PROVENANCE_KERNEL_NAME, "and says so");
    close_bench(&bench);
}

static void a_size_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct args huge = {.collective = "allreduce", .dtype = "Float", .in = UINT64_C(1) << 61};
    struct bench bench;
    struct comm_fact fact = {0};
    open_bench(&bench, all_reduce, &huge, NULL);
    CHECK_STATUS(comm_resolve(&bench.clue, &fact, &err), ORR_ERANGE);
    close_bench(&bench);
}

static void a_send_knows_its_receiver_from_arguments_record_or_arrow(void **state)
{
    (void)state;
    static const struct args args = {
        .collective = "send", .dtype = "Float", .in = 8, .group = "8", .has_peer = true, .src = -1, .dst = 3};
    static const struct args two = {.collective = "recv", .dtype = "Float", .in = 8, .group = "7"};
    static const struct args open = {.collective = "send", .dtype = "Float", .in = 8, .group = "8"};
    static const struct {
        const char *what;
        const struct args *device;
        struct op ops[OPS];
        enum comm_kind kind;
        int64_t src, dst;
    } ends[] = {
        {"Dst Rank, global", &args, {{0}}, COMM_SEND, 1, 3},
        {"record_param_comms, a member",
         &open,
         {{.name = "record_param_comms", .has_host = true, .has_member = true, .member = 1}},
         COMM_SEND,
         1,
         2},
        {"an arrow, members", &open, {{.name = "nccl:send 0->2"}}, COMM_SEND, 1, 3},
        {"a receive's arrow", NULL, {{.name = "nccl:recv 1<-3", .has_host = true, .tensor_in = 32}}, COMM_RECV, 3, 1},
        {"two members leave no choice", &two, {{0}}, COMM_RECV, 3, 1},
    };
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        struct bench bench;
        struct comm_fact fact = {0};
        open_bench(&bench, send_recv, ends[i].device, ends[i].ops);
        enum orr_status status = comm_resolve(&bench.clue, &fact, &err);
        CHECK(status == ORR_OK, "%s: %s", ends[i].what, err.text);
        CHECK(fact.kind == ends[i].kind && fact.src == ends[i].src && fact.dst == ends[i].dst,
              "%s: %s %" PRId64 "->%" PRId64, ends[i].what, comm_kind_text(fact.kind), fact.src, fact.dst);
        CHECK_U64(fact.bytes, 32, "%s", ends[i].what);
        close_bench(&bench);
    }
    struct bench bench;
    struct comm_fact fact = {0};
    open_bench(&bench, send_recv, &open, NULL);
    CHECK_OK(comm_resolve(&bench.clue, &fact, &err), &err);
    CHECK(fact.src == 1 && fact.dst == -1 && fact.peer_from == PROVENANCE_NONE, "a peer that nobody names stays open");
    close_bench(&bench);
}

static void a_root_is_a_member_of_the_group_and_becomes_a_rank(void **state)
{
    (void)state;
    static const struct args args = {.collective = "broadcast", .dtype = "Float", .in = 8, .group = "8"};
    struct bench bench;
    struct comm_fact fact = {0};
    open_bench(
        &bench, generic, &args,
        (const struct op[OPS]){{.name = "record_param_comms", .has_host = true, .has_member = true, .member = 1}});
    CHECK_OK(comm_resolve(&bench.clue, &fact, &err), &err);
    CHECK(fact.kind == COMM_BROADCAST && fact.root == 2, "root %" PRId64, fact.root);
    CHECK_U64(bench.groups.groups[fact.group].id, 8, "the group");
    close_bench(&bench);
}

static void a_group_nobody_tells_of_is_an_error(void **state)
{
    (void)state;
    struct bench bench;
    struct comm_fact fact = {0};
    open_bench(&bench, generic, NULL, (const struct op[OPS]){{.name = "nccl:all_reduce|bytes=4|pg=dp0"}});
    CHECK_STATUS(comm_resolve(&bench.clue, &fact, &err), ORR_EINVAL);
    CHECK_CONTAINS(err.text, "process group \"dp0\"");
    close_bench(&bench);
}

static void the_shares_of_a_collective_add_up_to_it(void **state)
{
    (void)state;
    struct comm_fact fact = {.kind = COMM_ALL_GATHER,
                             .bytes = 11,
                             .group = 2,
                             .root = -1,
                             .type_from = PROVENANCE_KINETO_ARGS,
                             .size_from = PROVENANCE_KINETO_ARGS};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        sum += comm_fact_share(&fact, 3, i).bytes;
    }
    CHECK_U64(sum, 11, "three shares");
}

static void both_sides_count_the_same_tags(void **state)
{
    (void)state;
    struct bench bench;
    open_bench(&bench, "", NULL, NULL);
    struct number_map sender;
    struct number_map receiver;
    number_map_init(&sender, &mem);
    number_map_init(&receiver, &mem);
    for (uint32_t i = 0; i < 1000; i++) {
        struct comm_fact fact = {.src = 1, .dst = i % 3, .group = i % 2 == 0 ? COMM_GROUP_NONE : 1};
        int32_t sent;
        int32_t received;
        CHECK(comm_tags_next(&sender, &bench.groups, &fact, &sent), "message %u", i);
        CHECK(comm_tags_next(&receiver, &bench.groups, &fact, &received), "message %u", i);
        CHECK(sent == received && sent >= 0 && sent < 500000000, "message %u: %d and %d", i, sent, received);
        uint32_t id = fact.group == COMM_GROUP_NONE ? 0 : 7;
        CHECK_U64(sent, id * 4194304 + i / 6, "message %u", i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        struct comm_fact fact = {.src = i, .dst = i + 1, .group = COMM_GROUP_NONE};
        int32_t tag;
        CHECK(comm_tags_next(&sender, NULL, &fact, &tag), "pair %u", i);
    }
    number_map_free(&sender);
    number_map_free(&receiver);
    close_bench(&bench);
    CHECK_U64(mem.used, 0, "all memory is given back");
}

TEST_MAIN(the_best_evidence_decides_alone, other_work_is_no_communication,
          a_generic_kernel_without_evidence_is_an_error_that_says_what_would_settle_it,
          an_unknown_size_is_an_error_unless_one_is_given, a_size_that_does_not_fit_is_refused,
          a_send_knows_its_receiver_from_arguments_record_or_arrow, a_root_is_a_member_of_the_group_and_becomes_a_rank,
          a_group_nobody_tells_of_is_an_error, the_shares_of_a_collective_add_up_to_it, both_sides_count_the_same_tags)
