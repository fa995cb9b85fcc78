#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, Chakra demo 3: the training step of a transformer from symbolic tensors (STG), two ways each of data, tensor
# and pipeline parallelism; then what the tutorial's page asks of an analysis: what a rank does, what it sends, what
# bounds the step, and pictures of it.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system system.json ring ring
network network.yml 'Ring, Switch' '4, 2' '300, 50' '500, 1000'

orrery gen stg --output_dir gpt --output_name gpt.%d.et --model_type gpt --num_stacks 4 --dmodel 1024 --dff 4096 \
    --head 16 --seq 512 --dvocal 32000 --batch 16 --micro_batch 4 --dp 2 --tp 2 --pp 2

echo
echo "What rank 0 does"
orrery trace stat gpt/gpt.0.et

echo
echo "What bounds the step (peak of 100 TFLOPS, 3 TB/s of memory)"
sed 's/"local-mem-bw": 50,/"local-mem-bw": 3000, "roofline-enabled": 1, "peak-perf": 100,/' system.json > h.json
orrery run -w gpt/gpt -s h.json -n network.yml --groups gpt/gpt.json --timeline step.json.gz --quiet

echo
echo "Pictures"
orrery trace view gpt/gpt.0.et -o gpt.html
test -s step.json.gz && echo "Wrote step.json.gz, for ui.perfetto.dev."
