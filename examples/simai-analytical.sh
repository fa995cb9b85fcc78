#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SimAI's quick start, by arithmetic: AICB's generator writes what a training step exchanges, SimAI-Analytical times it
# as size over bandwidth. Options are theirs, in their spelling.
set -eu

echo "The workload: GPT-7B on 4096 GPUs, as the notes on AICB have it"
orrery gen aicb training --frame Megatron --model gpt-7b --world_size 4096 --tensor_model_parallel_size 2 \
    --pipeline_model_parallel 1 --global_batch 8192 --micro_batch 1 --seq_length 4096 --swiglu --use_flash_attn \
    -o gpt7b.txt
head -n 4 gpt7b.txt | cut -c 1-110

echo
echo "Bus bandwidths as measured with nccl-tests, in GB/s"
cat > busbw.yaml << END
TP:
  allreduce: 300
  allgather: 280
  reducescatter: 280
DP:
  allreduce: 40
  allgather: 38
  reducescatter: 38
END
orrery simai analytical -w gpt7b.txt -g 4096 -g_p_s 8 -r test- -busbw busbw.yaml
head -n 2 results/test-EndToEnd.csv | cut -d , -f 1-4

echo
echo "The arithmetic behind it"
orrery calc batch --batch 8192 --dp 2048 --micro-batch 1
orrery calc pp-comm --micro-batch 1 --seq 4096 --hidden 5120 --tp 4
orrery calc pp-comm --micro-batch 1 --seq 4096 --hidden 5120 --tp 4 --sp
