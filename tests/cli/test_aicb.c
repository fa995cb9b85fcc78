/* SPDX-License-Identifier: Apache-2.0 */
/* AICB's generators from the command line: their spellings, where files go, and on to a simulation. */
#include "tests/cli/program.h"

#include <stdlib.h>
#include <unistd.h>

#define TRAINING "gen aicb training --model llama-7b --num_layers 2 "

static void a_workload_goes_on_through_conversion_to_a_simulated_step(void **state)
{
    (void)state;
    program_enter();
    program_write_machine(8, 1);
    CHECK_EXIT(program_run(TRAINING "--world_size 8 --tensor_model_parallel_size 2 --enable_sequence_parallel "
                                    "--global_batch 8 -o step.txt"),
               0);
    CHECK_EXIT(program_run("trace convert --from simai step.txt -o traces/step"), 0);
    const struct program_result *run = program_run("run --workload traces/step --system system.json --network "
                                                   "network.yml --groups traces/step.groups.json --format astra");
    CHECK_EXIT(run, 0);
    CHECK_CONTAINS(run->out, "sys[7] finished, ");
}

static void aicbs_spellings_are_taken_as_they_are(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "gen aicb training --compat aicb --world_size=8 --tensor_model_parallel_size=4 --use-distributed-optimizer -o "
        "a",
        "gen aicb training --compat=aicb --world-size 8 --tensor 4 --use_distributed_optimizer -o a",
    };
    program_enter();
    char first[1 << 16] = "";
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        CHECK_EXIT(program_run(lines[i]), 0);
        const char *text = program_read("a", NULL);
        if (i == 0) {
            (void)snprintf(first, sizeof first, "%s", text);
        }
        CHECK_TEXT(text, first);
    }
    CHECK_CONTAINS(first, "model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 24 ga: 2 all_gpus: 8 ");
}

static void a_folder_gets_aicbs_own_file_name(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *run = program_run(TRAINING "--gpu_type H800 -o made/here/");
    CHECK_EXIT(run, 0);
    CHECK_CONTAINS(run->out, "Wrote made/here/H800-llama-7b-world_size1-tp1-pp1-ep1-gbs4-mbs1-seq2048-MOE-False-GEMM-"
                             "False-flash_attn-False.txt");
    CHECK_EXIT(program_run("gen aicb vidur DeepSeek-671B -o made/here"), 0);
    CHECK(program_exists("made/here/vidur-DeepSeek-671B-world_size1-tp1-pp1-ep1-bs1-seq1-decode.csv"), "Vidur's name");
    CHECK_EXIT(program_run("gen aicb inference Qwen3-Next --result_dir served/"), 0);
    CHECK(program_exists("served/Qwen3-Next-world_size1-tp1-pp1-ep1-bs1-seq1-decode.txt"), "result_dir is a folder");
}

static const struct {
    const char *line, *says;
} refused[] = {
    {"gen aicb training --model lama-7b -o out.txt", "did you mean \"llama-7b\"?"},
    {"gen aicb training --world_sise 8 -o out.txt", "did you mean --world_size?"},
    {"gen aicb training --moe 8 -o out.txt", "unknown option --moe"},
    {"gen aicb training --frame Megatrom -o out.txt", "did you mean \"Megatron\"?"},
    {"gen aicb training --model gpt-7b surplus -o out.txt", "unexpected argument \"surplus\""},
    {"gen aicb training --model gpt-7b", "missing -o FILE"},
    {"gen aicb training --compat simai -o out.txt", "\"simai\" is not one of none, aicb"},
    {"gen aicb training --model gpt-7b --world_size 8 --tensor 3 -o out.txt", "--world_size 8 is not a multiple of TP"},
    {"gen aicb training --model gpt-7b --comp_filepath nowhere.txt -o out.txt", "nowhere.txt"},
    {"gen aicb training --model gpt-7b --comp_filepath in.txt -o in.txt", "-o in.txt is an input"},
    {"gen aicb training --model gpt-7b --epoch_num 2 --strict -o out.txt", "no effect on this file: --epoch_num"},
    {"gen aicb inference Llama -o out.txt", "is no model for inference"},
    {"gen aicb inference DeepSeek in.txt -o out.txt", "in.txt:1:"},
    {"gen aicb frobnicate", "unknown command"},
};

static void a_mistake_is_one_line_with_exit_code_2_and_no_file(void **state)
{
    (void)state;
    program_enter();
    program_write_text("in.txt", "train_iter:1\n");
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        const struct program_result *run = program_run(refused[i].line);
        CHECK_EXIT(run, 2);
        CHECK_ONE_LINE(run);
        CHECK_CONTAINS(run->err, refused[i].says);
        CHECK(!program_exists("out.txt"), "%s wrote a file", refused[i].line);
    }
    CHECK_TEXT(program_read("in.txt", NULL), "train_iter:1\n");
}

static void the_models_are_listed_by_both_spellings(void **state)
{
    (void)state;
    program_enter();
    CHECK_CONTAINS(program_run("gen aicb --list-models")->out, "deepseek-v3 ");
    CHECK_CONTAINS(program_run("gen aicb training --list-models")->out, "mixtral-8x7b ");
}

static void options_without_effect_are_named_in_one_warning(void **state)
{
    (void)state;
    program_enter();
    const struct program_result *run = program_run(TRAINING "--epoch_num 2 --overlap_grad_reduce -o out.txt");
    CHECK_EXIT(run, 0);
    CHECK_CONTAINS(run->err, "no effect on this file: --epoch_num, --overlap_grad_reduce\n");
    CHECK_TEXT(program_run(TRAINING "--epoch_num 2 --quiet -o out.txt")->err, "");
    /* Those that have one are not: every one of these changes a physical workload. */
    CHECK_TEXT(
        program_run("gen aicb physical --strict --world_size 8 --frame DeepSpeed --hidden_size 64 --num_layers 2 "
                    "--num_attention_heads 4 --global_batch 8 --num_query_groups 2 --kv_channels 32 "
                    "--context-parallel-size 2 -o out.txt")
            ->err,
        "");
    CHECK_TEXT(program_run("gen aicb physical --strict --world_size 8 --frame Megatron --hidden_size 64 --num_layers 2 "
                           "--num_attention_heads 4 --global_batch 8 --num_query_groups 2 --normalization RMSNorm "
                           "--position_embedding_type rope --moe_enable --num_experts 4 --moe_ffn_hidden_size 128 "
                           "-o out.txt")
                   ->err,
               "");
    (void)unlink("out.txt");
}

/* Lines of AICB's README; `found` is the file that AICB would leave, or what is said. */
static const struct {
    const char *line;
    int exit_code;
    const char *found;
} scripts[] = {
    {"scripts/megatron_gpt.sh --nnodes 1 --node_rank 0 --nproc_per_node 8 --master_addr localhost --master_port 29500 "
     "-m 7 "
     "--world_size 8 --tensor_model_parallel_size 2 --pipeline_model_parallel 1 --frame Megatron --global_batch 16 "
     "--micro_batch 1 --seq_length 2048 --swiglu --use_flash_attn",
     0, "results/mocked_workload/megatron_gpt_7B_sp_False_iteration_1_computationEnable_False_8n_workload.csv"},
    {"scripts/megatron_workload_with_aiob.sh -m 7 --world_size 64 --tensor_model_parallel_size 2 "
     "--pipeline_model_parallel "
     "1 --frame Megatron --global_batch 64 --micro_batch 1 --seq_length 4096 --swiglu --use_flash_attn --aiob_enable",
     0,
     "results/workload/"
     "None-gpt_7B-world_size64-tp2-pp1-ep1-gbs64-mbs1-seq4096-MOE-False-GEMM-False-flash_attn-True.txt"},
    {"megatron_workload_with_aiob.sh -m deepseek671 --world_size 64 --tp 1 --sp --ep 16 --moe_enable --frame DeepSeek "
     "--global_batch 64 --aiob_enable",
     0,
     "results/workload/"
     "None-DeepSeek_671B-world_size64-tp1-pp1-ep16-gbs64-mbs1-seq4096-MOE-True-GEMM-False-flash_attn-False.txt"},
    {"./scripts/inference_workload_with_aiob.sh -m qwen3-235B -s 1024 -b 4 -w 32 -e 32 -p prefill", 0,
     "results/workload/Qwen3-Moe-235B-world_size32-tp1-pp1-ep32-bs4-seq1024-prefill.txt"},
    {"scripts/deepspeed_llama.sh --zero_stage 2 -m 7 --epoch_num 1", 0,
     "results/mocked_workload/deepspeed_stage2_llama_7b_sp_False_iteration_1_computationEnable_False_8n_workload.csv"},
    {"workload_generator.SimAI_training_workload_generator --world_size=8 --num_layers=2 --model_name=small", 0,
     "results/workload/None-small-world_size8-tp1-pp1-ep1-gbs4-mbs1-seq2048-MOE-False-GEMM-False-flash_attn-False.txt"},
    {"gen_Topo_Template.py -topo Spectrum-X -g 16 -psn 2", 0, "Spectrum-X_16g_8gps_400Gbps_H100"},
    {"run_suites.py --global_batch 128 --epoch_num 1", 0,
     "results/mocked_workload/megatron_llama_405B_sp_True_iteration_1_computationEnable_False_128n_workload.csv"},
    {"megatron_gpt.sh -m 8", 2, "-m: \"8\" is none of 7, 13, 22, 175"},
    {"megatron_gpt.sh --moon", 2, "megatron_gpt: unknown option --moon"},
    {"megatron_gpt.sh --world_size", 2, "--world_size needs a value"},
};

static void aicbs_scripts_run_under_their_names(void **state)
{
    (void)state;
    program_enter();
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        const struct program_result *result = program_run(scripts[i].line);
        CHECK(result->exit_code == scripts[i].exit_code, "%s: exit code %d, %s", scripts[i].line, result->exit_code,
              result->err);
        if (scripts[i].exit_code == 0) {
            CHECK(program_exists(scripts[i].found), "%s: no %s, but %s", scripts[i].line, scripts[i].found,
                  result->out);
        } else {
            CHECK_CONTAINS(result->err, scripts[i].found);
        }
    }
    CHECK(symlink(getenv("ORRERY"), "megatron_gpt.sh") == 0, "a link");
    CHECK_EXIT(program_run_as("./megatron_gpt.sh", "-m 13 --world_size 16 -o linked.csv", NULL, NULL), 0);
    CHECK(program_exists("linked.csv"), "under the script's name too");
}

TEST_MAIN(a_workload_goes_on_through_conversion_to_a_simulated_step, aicbs_spellings_are_taken_as_they_are,
          a_folder_gets_aicbs_own_file_name, a_mistake_is_one_line_with_exit_code_2_and_no_file,
          the_models_are_listed_by_both_spellings, options_without_effect_are_named_in_one_warning,
          aicbs_scripts_run_under_their_names)
