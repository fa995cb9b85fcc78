#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gradients of Qwen2.5-0.5B (494,032,768 parameters, 37 buckets a step) on 128 GPUs: torus, fat tree, twisted torus, as
# in ROCm-ASTRAsim's study, whose runs on ns-3 took four to five days each. Flow by default, seconds a machine; with
# BACKEND=packet every packet: five minutes for the torus, more for the others, where packets meet, unless PAYLOAD=9000.
set -eu
. "$(dirname "$0")/lib/machine.sh"
backend=${BACKEND:-flow}

echo "1. The step: no recording needed"
orrery gen ddp --model qwen05b --npus 2 -o step/qwen

echo
echo "2. The machines: 65 Gbps within a server of 8, 25 Gbps between servers of the tori, 65 Gbps in the fat tree"
grid='--dims 4x4x8 --bandwidth 25Gbps,25Gbps,65Gbps --latency 5us,5us,14us --host-bandwidth 65Gbps --host-latency 14us'
# shellcheck disable=SC2086 # several words
{
    orrery topo make torus $grid -o torus.txt
    orrery topo make twisted-torus $grid -o twisted.txt
    orrery topo make fat-tree --hosts 128 --leaves 16 --spines 8 --bandwidth 65Gbps --latency 14us,5us -o fattree.txt
} | grep -v '^$'

# machine, dimensions, algorithm of each dimension
step() {
    # shellcheck disable=SC2086 # one word an algorithm
    system system.json $3
    sed -i -e 's/"active-chunks-per-dimension": 1/"active-chunks-per-dimension": 4/' \
        -e 's/"local-mem-bw": 50/"local-mem-bw": 540/' system.json
    echo "{\"logical-dims\": [$2]}" > logical.json
    wires config.txt "$1.txt" "${PAYLOAD:-1000}"
    # Buffers of the study's runs were 127/64 of the gradients.
    orrery run --backend "$backend" -w step/qwen -s system.json -n config.txt --logical logical.json \
        --grow --comm-scale 127/64 --json run.json --quiet > out.txt
    time_ns=$(sed -n 's/.*"time_ns": *\([0-9]*\).*/\1/p' run.json | head -1)
    first=${first:-$time_ns}
    awk -v name="$1, $3" -v ns="$time_ns" -v first="$first" -v was="$4" \
        'BEGIN { printf "%-45s %8.1f ms  %.2f  (%.2f)\n", name, ns / 1e6, ns / first, was }'
}
echo
echo "3. One step on 128 ranks grown from 2, and its ratio to the torus (in brackets: the study's)"
step torus '"4", "4", "8"' 'ring ring ring' 1
step fattree '"128"' 'halvingDoubling' 1.0059
step twisted '"4", "4", "8"' 'ring ring ring' 1.7794
step twisted '"4", "4", "8"' 'halvingDoubling halvingDoubling ring' 1.7471
