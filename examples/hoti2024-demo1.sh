#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HOTI 2024, demo 1: traces made by hand, run on eight devices in a ring of 50 GB/s and 500 ns a link. The slides say
# 117780 cycles (1-1) and 405520 cycles (1-2); a cycle is a nanosecond.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system system.json ring
network ring8.yml Ring 8 50 500

echo "Demo 1-1: one all-reduce of 1 MiB on 8 ranks"
orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o allreduce | head -n 1
orrery trace show allreduce.0.et
orrery run -w allreduce -s system.json -n ring8.yml --backend aware --format astra | steps

echo
echo "Demo 1-2: three nodes: that all-reduce, then an all-gather of 2 MiB beside 50 us of compute"
orrery gen three-node --bytes 1MiB --compute 50us --npus 8 -o three | head -n 1
orrery trace view three.0.et -o three.svg # the slides' visualizer; also .html, .pdf, .dot, .graphml
orrery trace stat three.0.et | grep dependencies
orrery run -w three -s system.json -n ring8.yml --backend aware --format astra | steps
