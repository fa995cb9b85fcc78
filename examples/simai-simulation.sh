#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SimAI's quick start, packet by packet: a Spectrum-X machine of 128 GPUs, one all-reduce on it, every packet of NCCL's
# messages sent. Options, environment and files are SimAI's.
set -eu

echo "The machine"
orrery topo make -topo Spectrum-X -g 128 -gt A100 -bw 100Gbps -nvbw 2400Gbps
head -n 1 Spectrum-X_128g_8gps_100Gbps_A100

cat > SimAI.conf << END
PACKET_PAYLOAD_SIZE 9000
CC_MODE 1
L2_ACK_INTERVAL 1
L2_CHUNK_SIZE 4000
ENABLE_QCN 1
BUFFER_SIZE 32
KMAX_MAP 4 100000000000 1600 400000000000 3200 2400000000000 3200 3600000000000 3200
KMIN_MAP 4 100000000000 400 400000000000 800 2400000000000 800 3600000000000 800
PMAX_MAP 4 100000000000 0.2 400000000000 0.2 2400000000000 0.2 3600000000000 0.2
END
cat > allreduce.txt << END
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 128 checkpoints: 0 checkpoint_initiates: 0
1
micro -1 1000 ALLREDUCE 4194304 1000 NONE 0 1000 NONE 0 100
END

echo
echo "An all-reduce of 4 MiB in each server"
AS_SEND_LAT=3 orrery simai simulate -t 16 -w allreduce.txt -n Spectrum-X_128g_8gps_100Gbps_A100 -c SimAI.conf --quiet

echo
echo "On H100, whose NVLink switches add up themselves, and with the gradients' way among all servers"
orrery topo make -topo Spectrum-X -g 32 -gt H100 -bw 400Gbps -nvbw 3600Gbps -o h100 > made.txt
sed 's/all_gpus: 128/all_gpus: 32/; s/^micro.*/micro -1 1000 ALLREDUCE 4194304 1000 NONE 0 1000 ALLREDUCE 4194304 100/' \
    allreduce.txt > step.txt
for nvls in 0 1; do
    printf 'AS_NVLS_ENABLE=%s  ' $nvls
    AS_SEND_LAT=3 AS_NVLS_ENABLE=$nvls orrery simai simulate -w step.txt -n h100 -c SimAI.conf --quiet | sed -n 1p
done
