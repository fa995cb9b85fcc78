#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ASPLOS 2023 exercises: training steps written as text, on systems like a DGX-2 (16 devices on NVSwitches) joined by a
# slower network, and like a TPU pod (a 3-D torus). What is hidden behind compute depends on both.
set -eu
. "$(dirname "$0")/lib/machine.sh"
system dgx2.json ring halvingDoubling
network dgx2.yml 'Switch, Switch' '16, 4' '150, 12.5' '700, 2000'
system tpu.json ring ring ring
network tpu.yml 'Ring, Ring, Ring' '4, 4, 4' '62.5, 62.5, 62.5' '500, 500, 500'

# A transformer, 16 ranks to a model-parallel group; a recommender; a plain data-parallel network.
cat > transformer.txt << END
HYBRID_TRANSFORMER model_parallel_NPU_group: 16
3
embedding -1  150000 NONE             0   150000 NONE             0   150000 ALLREDUCE 16777216  5000
attention -1  900000 ALLREDUCE 16777216   900000 ALLREDUCE 16777216   850000 ALLREDUCE 33554432  8000
mlp       -1 1600000 ALLREDUCE 16777216  1600000 ALLREDUCE 16777216  1500000 ALLREDUCE 67108864 12000
END
cat > dlrm.txt << END
HYBRID_DLRM 2
4
tables  -1  20000 ALLTOALL 4194304   20000 ALLTOALL 4194304       0 NONE            0    0
bottom1 -1  60000 NONE           0   60000 NONE           0   55000 ALLREDUCE 1048576  500
bottom2 -1  60000 NONE           0   60000 NONE           0   55000 ALLREDUCE 1048576  500
top     -1 180000 NONE           0  170000 NONE           0  160000 ALLREDUCE 8388608 1500
END
cat > vision.txt << END
DATA
3
stage1 -1 1500000 NONE 0 1400000 NONE 0 1450000 ALLREDUCE  4194304 2000
stage2 -1 1700000 NONE 0 1600000 NONE 0 1650000 ALLREDUCE 25165824 5000
stage3 -1  900000 NONE 0  850000 NONE 0  880000 ALLREDUCE 67108864 9000
END

for workload in transformer dlrm vision; do
    orrery trace convert --ranks 64 $workload.txt -o $workload > made.txt
    groups=
    test ! -f $workload.groups.json || groups="--groups $workload.groups.json"
    for machine in dgx2 tpu; do
        # shellcheck disable=SC2086 # an option with its file, or none
        orrery run -w $workload -s $machine.json -n $machine.yml $groups --policy safe --format astra |
            steps | sed "s/^/$workload on $machine, /"
    done
done

echo
echo "The transformer on the DGX-2s in full"
orrery run -w transformer -s dgx2.json -n dgx2.yml --groups transformer.groups.json
