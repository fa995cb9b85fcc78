#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, ASTRA-sim demo 1: an all-reduce of 1 MiB on eight devices, with and without congestion. On a ring and
# fully connected nothing meets on a link and the two networks agree; an all-to-all on the ring shows what they differ in.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system ring.json ring
system direct.json direct
network ring8.yml Ring 8 50 500
network full8.yml FullyConnected 8 50 500
orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o allreduce > made.txt
orrery gen collective --type all-to-all --bytes 1MiB --npus 8 -o alltoall > made.txt

# title, workload, system, network
both() {
    printf '%-36s' "$1"
    for backend in aware unaware; do
        orrery run -w "$2" -s "$3" -n "$4" --backend $backend --format json |
            sed -n "s/^ *\"time_ns\": \([0-9]*\),*/  $backend \1 ns/p" | head -n 1 | tr -d '\n'
    done
    echo
}
both "1-1: all-reduce, ring" allreduce ring.json ring8.yml
both "1-2: all-reduce, fully connected" allreduce direct.json full8.yml
both "     all-to-all on the ring, direct" alltoall direct.json ring8.yml

echo
orrery run -w allreduce -s ring.json -n ring8.yml --backend aware
