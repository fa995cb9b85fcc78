#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ROCm work flow, from a recording on two GPUs to 128 virtual ones: record, check, import, simulate the machine it was
# recorded on, calibrate with the measured step, then other machines and more ranks, and what they cost. The recording is
# ours: one step of a small CNN (545,098 parameters) on two ranks.
set -eu
. "$(dirname "$0")/lib/machine.sh"

echo "1. Record: a script for torchrun, for AMD's GPUs"
orrery trace recipe --framework pytorch --vendor amd > record_pytorch.py
grep -o -e '--[a-z-]*' record_pytorch.py | sort -u | grep -e wait -e steps -e epochs -e model | tr '\n' ' '
echo

orrery trace ready "$recording" | grep -e ProfilerStep -e '^Mode' -e '^Usable'

echo
echo "2. Import: host and device trace of every rank, linked and converted"
orrery trace import "$recording" -o workload/cnn > import.txt
grep -e 'mean length' -e 'bytes a step' -e Wrote import.txt
orrery trace check workload/cnn.0.et workload/cnn.1.et

# The options of a run; every run is kept, with its machine as files, in a folder of its own and in the result store.
lab() {
    orrery lab run --workload workload --output-dir runs --quiet "$@" > lab.txt
    grep -e '^Machine' -e '^Scaling' -e '^Step time' lab.txt
}
echo
echo "3. Simulate: two GPUs at 25 Gbps and 1 us; the recorded steps are the mean lengths above"
lab --topology 2gpu_auto1d_2 --bandwidth 25 --latency 1

echo
echo "4. Scale: 8 GPUs in 4 x 2, 128 in (4 x 4) x 8 (where scale and name disagree, the name wins)"
lab --topology 8gpu_ring2d_4 --bandwidth 100 --latency 0.5 --virtual-scale 4
lab --topology 128gpu_torus3d_16 --virtual-scale 16

echo
echo "5. Calibrate: the recorded step and the untraced ones against the simulated step, then 128 GPUs as calibrated"
orrery lab run --workload workload --trace-dir "$recording" --topology 128gpu_torus3d_16 --virtual-scale 64 \
    --auto-calibrate --output-dir runs --quiet > calibrated.txt 2> warnings.txt
grep -e '^Measured' -e '^Simulated' -e '^Alpha' -e '^Lower bound' -e '^Achieved' -e '^Verdict' -e '^For a run' calibrated.txt
grep '^Step time' calibrated.txt

echo
echo "6. Compare topologies of 128 GPUs at 65 Gbps and 14 us a link, all at once"
orrery sweep --vary topology=ring,switch,torus2d,torus3d --store runs/orrery.db --quiet -- \
    lab run --workload workload --bandwidth 65 --latency 14 --world-size 128
printf 'fattree, every packet: '
lab --topology fattree --bandwidth 65 --latency 14 --world-size 128 --backend packet | grep '^Step time'

echo
echo "7. What they cost, with a price list to be edited"
orrery cost --template > prices.yml
orrery topo make fat-tree --hosts 128 --leaves 16 --spines 8 --bandwidth 65Gbps -o fattree.txt > made.txt
orrery topo make torus --dims 4x4x8 --bandwidth 25Gbps,25Gbps,65Gbps -o torus.txt >> made.txt
orrery cost --prices prices.yml fattree.txt torus.txt --step-time 17.45ms,10.23ms | tail -n 4

echo
echo "8. The history: one SQLite file"
orrery lab list --store runs/orrery.db | grep -c ' done ' | sed 's/$/ runs are kept/'
orrery lab export --store runs/orrery.db --metrics metrics.csv > exported.txt
cut -d , -f 4-6,16,17 metrics.csv | head -n 1 # of its columns
cut -d , -f 4-6,16,17 metrics.csv | tail -n +2 | sort -t , -k 1n -k 3
