#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# HOTI 2024, demo 3: a recorded training step, from PyTorch's two traces a rank to a simulation. The tutorial's own
# recording is not public any more; ours is a small CNN on two ranks, in tests/data/pytorch.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system system.json direct
network pair.yml FullyConnected 2 50 500

echo "Demo 3, step by step: link, convert, simulate"
for rank in 0 1; do
    orrery trace link --host "$recording/host_$rank.json.gz" --device "$recording/device_$rank.json.gz" \
        -o "linked_$rank.json" > link.txt
    orrery trace convert "linked_$rank.json" -o "step.$rank.et" 2> warnings.txt
done
orrery run -w step -s system.json -n pair.yml --format astra --quiet | grep -o 'sys.* finished, [0-9]* cycles'

echo
echo "The same in one step"
orrery trace import "$recording" -o imported | tail -n 3
orrery run -w imported -s system.json -n pair.yml --quiet | sed -n 1p
