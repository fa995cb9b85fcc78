/* SPDX-License-Identifier: Apache-2.0 */
/* What names say, as tables: each row is a name as a profiler wrote it and what it means. */
#include "convert/comm_name.h"
#include "convert/provenance.h"
#include "tests/check.h"

struct row {
    const char *name;
    enum comm_kind want;
};

static const struct row words[] = {
    {"allreduce", COMM_ALL_REDUCE},
    {"all_reduce", COMM_ALL_REDUCE},
    {"allreduce_coalesced", COMM_ALL_REDUCE},
    {"allreduce_sparse", COMM_ALL_REDUCE},
    {"NCCL_ALLREDUCE", COMM_ALL_REDUCE},
    {"_allgather_base", COMM_ALL_GATHER},
    {"all_gather", COMM_ALL_GATHER},
    {"allgather_into_tensor_coalesced", COMM_ALL_GATHER},
    {"reduce_scatter_tensor", COMM_REDUCE_SCATTER},
    {"_reduce_scatter_base", COMM_REDUCE_SCATTER},
    {"reduce_scatter_tensor_coalesced", COMM_REDUCE_SCATTER},
    {"all_to_all", COMM_ALL_TO_ALL},
    {"all_to_allv", COMM_ALL_TO_ALL},
    {"alltoall_base", COMM_ALL_TO_ALL},
    {"broadcast", COMM_BROADCAST},
    {"_broadcast_oop", COMM_BROADCAST},
    {"NCCL_BCAST", COMM_BROADCAST},
    {"reduce", COMM_REDUCE},
    {"_reduce_oop", COMM_REDUCE},
    {"gather", COMM_GATHER},
    {"scatter", COMM_SCATTER},
    {"send", COMM_SEND},
    {"recv", COMM_RECV},
    {"recvAnysource", COMM_RECV},
    {"barrier", COMM_BARRIER},
    {"all_reduce_barrier", COMM_BARRIER},
    {"coalesced", COMM_UNKNOWN},
    {"wait", COMM_NONE},
    {"init", COMM_NONE},
    {"", COMM_NONE},
    {"destroy", COMM_NONE},
};

static const struct row ops[] = {
    {"c10d::allreduce_", COMM_ALL_REDUCE},
    {"c10d::_allgather_base_", COMM_ALL_GATHER},
    {"c10d::allgather_into_tensor_coalesced_", COMM_ALL_GATHER},
    {"c10d::reduce_scatter_", COMM_REDUCE_SCATTER},
    {"c10d::alltoall_base_", COMM_ALL_TO_ALL},
    {"c10d::broadcast_", COMM_BROADCAST},
    {"c10d::recv_any_source_", COMM_RECV},
    {"c10d::monitored_barrier_", COMM_BARRIER},
    {"_c10d_functional::all_reduce_", COMM_ALL_REDUCE},
    {"_c10d_functional::all_to_all_single", COMM_ALL_TO_ALL},
    {"_c10d_functional::wait_tensor", COMM_NONE},
    {"nccl:all_reduce", COMM_ALL_REDUCE},
    {"nccl:all_reduce|bytes=4096|pg=dp0", COMM_ALL_REDUCE},
    {"nccl:_all_gather_base", COMM_ALL_GATHER},
    {"nccl:all_reduce_barrier", COMM_BARRIER},
    {"nccl:send 0->1", COMM_SEND},
    {"nccl:recv 1<-0", COMM_RECV},
    {"nccl:coalesced", COMM_UNKNOWN},
    {"gloo:broadcast", COMM_BROADCAST},
    {"rccl:all_to_all", COMM_ALL_TO_ALL},
    {"record_param_comms", COMM_UNKNOWN},
    {"aten::gather", COMM_NONE},
    {"aten::scatter_add_", COMM_NONE},
    {"DistributedDataParallel.forward", COMM_NONE},
    {"Optimizer.step#SGD.step", COMM_NONE},
};

static const struct row kernels[] = {
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM_ALL_REDUCE},
    {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", COMM_ALL_REDUCE},
    {"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", COMM_ALL_REDUCE},
    {"ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs)", COMM_ALL_GATHER},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM_ALL_GATHER},
    {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM_REDUCE_SCATTER},
    {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM_REDUCE},
    {"ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM_BROADCAST},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", COMM_UNKNOWN},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", COMM_UNKNOWN},
    {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", COMM_UNKNOWN},
    {"ncclDevKernel_Generic(ncclDevKernelArgs)", COMM_UNKNOWN},
    {"ncclDevKernelDebug_Generic(ncclDevKernelArgsStorage<4096ul>)", COMM_UNKNOWN},
    {"rcclKernel_AllReduce", COMM_ALL_REDUCE},
    {"mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)", COMM_UNKNOWN},
    {"oneccl_allreduce_large<float>", COMM_ALL_REDUCE},
    {"void vllm::cross_device_reduce_1stage<half, 2>(vllm::RankData*)", COMM_ALL_REDUCE},
    {"void c10d::(anonymous namespace)::two_shot_all_reduce_kernel<float>(float*)", COMM_ALL_REDUCE},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(…)", COMM_NONE},
    {"void at::native::vectorized_gather_kernel<16, long>(char*)", COMM_NONE},
    {"Memcpy DtoD (Device -> Device)", COMM_NONE},
    {"sm90_xmma_gemm_f32f32_tn_n_tilesize128x128x32", COMM_NONE},
};

static void check_rows(const struct row *rows, size_t count, enum comm_kind (*read)(const char *name))
{
    for (size_t i = 0; i < count; i++) {
        CHECK(read(rows[i].name) == rows[i].want, "%s is %s, not %s", rows[i].name, comm_kind_text(rows[i].want),
              comm_kind_text(read(rows[i].name)));
    }
}

static void a_word_names_its_collective_in_every_spelling(void **state)
{
    (void)state;
    check_rows(words, COUNT_OF(words), comm_name_word);
}

static void only_names_that_begin_as_communication_speak_of_it(void **state)
{
    (void)state;
    check_rows(ops, COUNT_OF(ops), comm_name_op);
}

static void a_kernel_of_a_library_is_communication_even_when_its_type_is_open(void **state)
{
    (void)state;
    check_rows(kernels, COUNT_OF(kernels), comm_name_kernel);
}

static void a_family_is_told_by_its_kernels_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum comm_family want;
    } rows[] = {
        {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
         COMM_FAMILY_SYMMETRIC},
        {"void c10d::(anonymous namespace)::one_shot_all_reduce_kernel<float>(float*)", COMM_FAMILY_SYMMETRIC},
        {"void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8, false>(AllReduceParams)", COMM_FAMILY_SYMMETRIC},
        {"void aiter::cross_device_reduce_2stage<opus::bf16_t, 8>(aiter::RankData*)", COMM_FAMILY_CUSTOM},
        {"void quickreduce::allreduce_prototype_twoshot<quickreduce::CodecFP>(half*)", COMM_FAMILY_CUSTOM},
        {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<half>(Params)",
         COMM_FAMILY_FUSED},
        {"void deep_ep::intranode::dispatch<8, 768>(int4*, float*)", COMM_FAMILY_EXPERT},
        {"void dpsk::ep::internode::cached_notify<false>(int, int)", COMM_FAMILY_EXPERT},
        {"void dpsk::ep::cuda::get_dispatch_layout<256, 32, 8>(long const*)", COMM_FAMILY_LIBRARY},
        {"void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(Args)", COMM_FAMILY_EXPERT},
        {"nvshmemi_proxy_quiet_kernel()", COMM_FAMILY_ONE_SIDED},
        {"void userbuffers_fp16_sum_inplace_gpu_rr_rs<8>(int, int)", COMM_FAMILY_USERBUFFERS},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM_FAMILY_LIBRARY},
        {"void cutlass::device_kernel<dpsk::ep::Gemm>(dpsk::ep::Gemm::Params)", COMM_FAMILY_LIBRARY},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CHECK(comm_name_family(rows[i].name) == rows[i].want, "%s is of %s", rows[i].name,
              comm_family_text(comm_name_family(rows[i].name)));
        CHECK(comm_family_is_sized(rows[i].want) || rows[i].want == COMM_FAMILY_LIBRARY ||
                  comm_name_kernel(rows[i].name) == COMM_NONE,
              "%s: what tells no size is no message by its name alone", rows[i].name);
    }
}

static void a_data_type_has_its_width(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t want;
    } types[] = {
        {"Float", 4},
        {"float", 4},
        {"torch.float32", 4},
        {"Half", 2},
        {"c10::Half", 2},
        {"c10::BFloat16", 2},
        {"BFloat16", 2},
        {"Long", 8},
        {"long int", 8},
        {"Int", 4},
        {"int", 4},
        {"int64_t", 8},
        {"int8_t", 1},
        {"unsigned char", 1},
        {"Byte", 1},
        {"Char", 1},
        {"Bool", 1},
        {"Double", 8},
        {"Float8_e4m3fn", 1},
        {"c10::Float8_e5m2", 1},
        {"Short", 2},
        {"ComplexFloat", 8},
        {"c10::complex<double>", 16},
        {"f32", 4},
        {"bf16", 2},
        {"Undefined", 0},
        {"", 0},
        {"TensorList", 0},
        {"Scalar", 0},
        {"uint", 0},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        CHECK_U64(comm_dtype_bytes(types[i].name), types[i].want, "%s", types[i].name);
    }
}

static void provenances_have_names_that_differ(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PROVENANCE_COUNT; i++) {
        CHECK(provenance_text((enum provenance)i)[0] != '\0', "row %u", i);
        for (unsigned k = 0; k < i; k++) {
            CHECK(strcmp(provenance_name((enum provenance)i), provenance_name((enum provenance)k)) != 0, "rows %u, %u",
                  i, k);
        }
    }
}

static void the_dominant_collective_is_the_one_that_occurs_most(void **state)
{
    (void)state;
    const struct {
        uint64_t counts[COMM_KIND_COUNT];
        const char *word;
    } cases[] = {
        {{0}, "workload"},
        {{[COMM_ALL_GATHER] = 5, [COMM_ALL_REDUCE] = 4}, "allgather"},
        {{[COMM_ALL_GATHER] = 5, [COMM_ALL_REDUCE] = 5}, "workload"},
        {{[COMM_ALL_GATHER] = 5, [COMM_ALL_REDUCE] = 5, [COMM_BROADCAST] = 6}, "broadcast"},
        {{[COMM_REDUCE_SCATTER] = 2, [COMM_REDUCE_SCATTER_BLOCK] = 2, [COMM_ALL_TO_ALL] = 3}, "reducescatter"},
        {{[COMM_BARRIER] = 9, [COMM_SEND] = 9, [COMM_UNKNOWN] = 9}, "workload"},
        {{[COMM_BARRIER] = 9, [COMM_ALL_TO_ALL] = 1}, "alltoall"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(comm_kind_dominant(cases[i].counts), cases[i].word);
    }
}

TEST_MAIN(the_dominant_collective_is_the_one_that_occurs_most, a_word_names_its_collective_in_every_spelling,
          only_names_that_begin_as_communication_speak_of_it,
          a_kernel_of_a_library_is_communication_even_when_its_type_is_open, a_family_is_told_by_its_kernels_name,
          a_data_type_has_its_width, provenances_have_names_that_differ)
