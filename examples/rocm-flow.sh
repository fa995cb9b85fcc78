#!/bin/sh
# The ROCm work flow, from a recording on two GPUs to 128 virtual ones: record, import, simulate the machine it was
# recorded on, compare with the measured step, then other machines and more ranks. The recording is ours: one step of a
# small CNN (545,098 parameters) on two ranks.
set -eu
. "$(dirname "$0")/lib/machine.sh"

echo "1. Record: a script for torchrun, for AMD's GPUs"
orrery trace recipe --framework pytorch --vendor amd > record_pytorch.py
grep -o -e '--[a-z-]*' record_pytorch.py | sort -u | grep -e wait -e steps -e epochs -e model | tr '\n' ' '
echo

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
echo "5. Compare topologies of 128 GPUs at 65 Gbps and 14 us a link"
for topology in ring switch torus2d torus3d; do
    printf '%-8s ' $topology
    lab --topology $topology --bandwidth 65 --latency 14 --world-size 128 | grep '^Step time'
done
printf 'fattree  ' # wired, every packet
lab --topology fattree --bandwidth 65 --latency 14 --world-size 128 --backend packet | grep '^Step time'

echo
echo "6. The history: one SQLite file"
orrery lab list --store runs/orrery.db | grep -c ' done ' | sed 's/$/ runs are kept/'
orrery lab export --store runs/orrery.db --metrics - | cut -d , -f 4-6,16,17 # of metrics.csv's columns
