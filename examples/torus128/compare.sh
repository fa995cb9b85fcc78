#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One direct all-to-all on 128 GPUs, every rank with BYTES (1GiB): fat tree, 4x4x8 torus, twisted torus, sent packet by
# packet. Prints the step time of each and its ratio to the fat tree's. A few minutes at 1GiB, seconds at 100MiB.
# usage: compare.sh [ORRERY [BYTES]]
set -eu
. "$(dirname "$0")/../lib/machine.sh"
orrery=${1:-orrery} bytes=${2:-1GiB}
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
grid='--dims 4x4x8 --bandwidth 25Gbps,25Gbps,65Gbps --latency 5us,5us,14us --host-bandwidth 65Gbps --host-latency 14us'
# shellcheck disable=SC2086 # several words
{
    "$orrery" topo make torus $grid -o "$dir/torus.txt"
    "$orrery" topo make twisted-torus $grid -o "$dir/twisted.txt"
    "$orrery" topo make fat-tree --hosts 128 --leaves 16 --spines 8 --bandwidth 65Gbps --latency 14us,5us \
        -o "$dir/fattree.txt"
    "$orrery" gen collective --type all-to-all --bytes "$bytes" --npus 128 -o "$dir/a2a"
} > /dev/null

# machine, logical dimensions, how the all-to-all is done in each of them
step() {
    rings=$(echo "$2" | sed 's/"[0-9]*"/"ring"/g') direct=$3
    echo "{\"logical-dims\": [$2]}" > "$dir/logical.json"
    cat > "$dir/system.json" << END
{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 4,
 "all-reduce-implementation": [$rings], "all-gather-implementation": [$rings],
 "reduce-scatter-implementation": [$rings], "all-to-all-implementation": [$direct],
 "collective-optimization": "localBWAware", "local-mem-bw": 540}
END
    wires "$dir/config.txt" "$dir/$1.txt" 12000
    "$orrery" run --backend packet -w "$dir/a2a" -s "$dir/system.json" -n "$dir/config.txt" \
        --logical "$dir/logical.json" --json "$dir/run.json" --quiet > "$dir/out.txt" 2>&1 || true
    time_ns=$(sed -n 's/.*"time_ns": *\([0-9]*\).*/\1/p' "$dir/run.json" 2> /dev/null | head -1)
    grep -q STALLED "$dir/out.txt" && time_ns=
    first=${first:-$time_ns}
    if [ -n "$time_ns" ]; then
        printf '%-8s [%s] [%s]: %d ns  %s\n' "$1" "$2" "$3" "$time_ns" "$(awk "BEGIN { printf \"%.2f\", $time_ns / $first }")"
    else
        printf '%-8s [%s] [%s]: stalled, a cycle of pauses\n' "$1" "$2" "$3"
    fi
    rm -f "$dir/run.json"
}

# As published: one algorithm given, so that the tori do it in their first dimension alone.
first=
step fattree '"128"' '"direct"'
step torus '"4", "4", "8"' '"direct"'
step twisted '"4", "4", "8"' '"direct"'
# All with all: at once, and dimension by dimension.
step torus '"128"' '"direct"'
step twisted '"128"' '"direct"'
first=
for machine in fattree torus twisted; do
    step "$machine" '"4", "4", "8"' '"direct", "direct", "direct"'
done
