#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HOTI 2024, demo 2: a text workload made into traces, run on the ring of demo 1. The slides say 195206000 cycles. That
# is the compute alone: the release of that tutorial took nodes that do not say where they run for the CPU's and passed
# over their communication. Today's ASTRA-sim, and orrery, add 144188 ns of it.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system system.json ring
network ring8.yml Ring 8 50 500
mlp mlp.txt

echo "Demo 2: the workload"
cat mlp.txt
# Chakra's converter puts the text's nanoseconds into the traces as microseconds; --compat chakra does as it does.
orrery trace convert --compat chakra --ranks 8 mlp.txt -o mlp

echo
echo "As ASTRA-sim runs it today"
orrery run -w mlp -s system.json -n ring8.yml --backend aware --format astra | steps
echo "As the tutorial's release ran it"
orrery run -w mlp -s system.json -n ring8.yml --backend aware --format astra --missing-cpu-op=cpu | steps |
    sed 's/,.*//'

echo
echo "With the text's times as they are meant, in nanoseconds"
orrery trace convert --ranks 8 mlp.txt -o right
orrery run -w right -s system.json -n ring8.yml --backend aware | sed -n 1p
