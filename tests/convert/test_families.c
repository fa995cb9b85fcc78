/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that communicate without a library's call: their size comes from the op that launches them, or they last as
 * long as they did. One recording a test. */
#include "tests/convert/linking.h"

static struct linking linking;

static void resolve(void)
{
    struct comm_groups groups;
    comm_groups_init(&groups, &linking.mem);
    CHECK_OK(comm_groups_add(&groups, 0, linking.kineto, NULL, "device_0.json", &linking.err), &linking.err);
    CHECK_OK(comm_groups_settle(&groups, 2, &linking.err), &linking.err);
    CHECK_OK(link_resolve(&linking.linked, linking.kineto, NULL, &groups, "device_0.json", &linking.err), &linking.err);
    link_time_unsized(&linking.linked);
    CHECK_OK(link_note_timed(&linking.linked, &linking.notes, &linking.err), &linking.err);
    comm_groups_free(&groups);
}

static const struct comm_fact *fact_of(const char *name)
{
    const struct linked_node *node = node_at(&linking, name);
    return node->comm == LINKED_NONE ? NULL : &linking.linked.comms[node->comm];
}

#define MULTIMEM "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)"
#define CROSS    "void vllm::cross_device_reduce_2stage<half, 8>(vllm::RankData*)"
#define FUSED    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<half>(Params)"

static void the_first_tensor_of_the_launching_op_is_the_size(void **state)
{
    (void)state;
    static const struct {
        const char *op, *args, *kernel;
        uint64_t bytes;
    } cases[] = {
        {"symm_mem::multimem_all_reduce_",
         "\"Input Dims\": [[2, 1024], [], []], \"Input type\": [\"c10::BFloat16\", \"\", \"\"]", MULTIMEM, 4096},
        {"_C_custom_ar::all_reduce",
         "\"Input Dims\": [[], [4, 512], [4, 512], [], []], "
         "\"Input type\": [\"Scalar\", \"c10::Half\", \"c10::Half\", \"Scalar\", \"Scalar\"]",
         CROSS, 4096},
        {"vllm::flashinfer_trtllm_fused_allreduce_norm",
         "\"Input Dims\": [[8, 16], [8, 16], [16]], \"Input type\": [\"c10::Half\", \"c10::Half\", \"c10::Half\"]",
         FUSED, 256},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct line lines[] = {{"cpu_op", 1, cases[i].op, 0, 50, 1, cases[i].args},
                                     {CALL(1, "cudaLaunchKernel", 5, 2, 1)},
                                     {KERNEL(7, cases[i].kernel, 20, 10, 1)}};
        linking_open(&linking, lines, COUNT_OF(lines));
        resolve();
        const struct comm_fact *fact = fact_of(cases[i].kernel);
        CHECK(fact != NULL && fact->kind == COMM_ALL_REDUCE, "%s is an all-reduce", cases[i].op);
        CHECK_U64(fact == NULL ? 0 : fact->bytes, cases[i].bytes, "%s", cases[i].op);
        CHECK(fact != NULL && fact->size_from == PROVENANCE_LAUNCH_OP, "%s: how it is known", cases[i].op);
        CHECK_U64(linking.notes.count, 0, "no warning");
        linking_close(&linking);
    }
}

/* A graph's replay has no op for each kernel, and dispatch never has one. */
static void kernels_that_tell_no_size_are_timed_with_one_warning(void **state)
{
    (void)state;
    const struct line lines[] = {{OP(1, "forward", 0, 50, 1)},
                                 {CALL(1, "cudaGraphLaunch", 5, 2, 1)},
                                 {KERNEL(7, CROSS, 0, 100, 1)},
                                 {KERNEL(7, "void deep_ep::intranode::dispatch<8, 768>(int4*)", 100, 100, 1)},
                                 {KERNEL(7, "void deep_ep::intranode::combine<8, 768>(int4*)", 200, 50, 1)},
                                 {KERNEL(7, "gemm", 250, 750, 1)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    resolve();
    CHECK(fact_of(CROSS) == NULL && node_at(&linking, CROSS)->duration_ns == 100000, "it lasts as long as it did");
    CHECK_U64(linking.linked.counts.timed_comms[COMM_FAMILY_EXPERT], 2, "of experts");
    CHECK_U64(linking.linked.counts.timed_comms[COMM_FAMILY_CUSTOM], 1, "custom");
    CHECK_U64(linking.notes.count, 1, "one warning");
    CHECK_CONTAINS(
        linking.notes.lines[0],
        "3 kernels communicate but tell no size (custom all-reduce 1, expert-parallel dispatch 2): simulated "
        "as long as they were recorded, whatever the network, 25.0% of the recorded time");
    linking_close(&linking);
}

static void an_annotation_with_bytes_makes_a_dispatch_a_message(void **state)
{
    (void)state;
    const char *kernel = "void dpsk::ep::internode::dispatch<false, 8>(int4*)";
    const struct line lines[] = {{MARK(1, "nccl:all_to_all|bytes=4096", 0, 50)},
                                 {OP(1, "dispatch", 2, 40, 1)},
                                 {CALL(1, "cudaLaunchKernel", 5, 2, 1)},
                                 {KERNEL(7, kernel, 20, 10, 1)}};
    linking_open(&linking, lines, COUNT_OF(lines));
    resolve();
    const struct comm_fact *fact = fact_of(kernel);
    CHECK(fact != NULL && fact->kind == COMM_ALL_TO_ALL, "an all-to-all");
    CHECK_U64(fact == NULL ? 0 : fact->bytes, 4096, "as annotated");
    CHECK_U64(linking.notes.count, 0, "no warning");
    linking_close(&linking);
}

int main(void)
{
    const struct CMUnitTest tests[] = {CHECK_MAP(the_first_tensor_of_the_launching_op_is_the_size,
                                                 kernels_that_tell_no_size_are_timed_with_one_warning,
                                                 an_annotation_with_bytes_makes_a_dispatch_a_message)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
