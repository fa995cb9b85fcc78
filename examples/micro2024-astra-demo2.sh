#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MICRO 2024, ASTRA-sim demo 2: a model-parallel MLP on 32 devices, as four DGX-H100 and as a slice of TPUv4. ASTRA-sim
# says 195323264 and 195394300 cycles.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system dgx.json halvingDoubling halvingDoubling
network dgx.yml 'Switch, Switch' '8, 4' '450, 50' '500, 500'
system tpu.json ring ring ring
network tpu.yml 'Ring, Ring, Ring' '2, 4, 4' '50, 50, 50' '500, 500, 50'
mlp mlp.txt
orrery trace convert --compat chakra --ranks 32 mlp.txt -o mlp # its times as microseconds, as the tutorial has them

echo
echo "2-1: four DGX-H100, NVLink 450 GB/s and InfiniBand 50 GB/s"
orrery run -w mlp -s dgx.json -n dgx.yml --format astra | steps
echo "2-2: a 2x4x4 torus of TPUv4, 50 GB/s a link"
orrery run -w mlp -s tpu.json -n tpu.yml --format astra | steps

# The times of the text are nanoseconds. Read so, communication is most of the step, and the machines differ.
echo
echo "Read as nanoseconds"
orrery trace convert --ranks 32 mlp.txt -o right > made.txt
for machine in dgx tpu; do
    printf '%s  ' $machine
    orrery run -w right -s $machine.json -n $machine.yml | sed -n 1p
done
