/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything a simulation needs to know, as plain values: what the configuration readers produce and the engine
 * consumes. No file format is known here. All pointers are borrowed and must outlive the simulation.
 */
#ifndef ORR_SIM_CONFIG_H
#define ORR_SIM_CONFIG_H

#include "coll/impl.h"
#include "orrery/run.h"
#include "topo/dims.h"
#include "trace/graph.h"

/* The four collectives that have an implementation list, in the order ASTRA-sim builds their topologies. */
enum sim_native { SIM_ALL_REDUCE, SIM_REDUCE_SCATTER, SIM_ALL_GATHER, SIM_ALL_TO_ALL, SIM_NATIVE_COUNT };

enum sim_scheduling { SIM_LIFO, SIM_FIFO, SIM_EXPLICIT };
enum sim_optimization { SIM_BASELINE, SIM_LOCAL_BW_AWARE };
enum sim_memory_kind { SIM_MEMORY_NONE, SIM_MEMORY_PER_NODE, SIM_MEMORY_PER_NPU, SIM_MEMORY_POOL };

/* How one collective type is carried out: a custom trace set if there is one, else the list. */
struct sim_implementation {
    struct coll_impl list[TOPO_MAX_DIMS];
    uint32_t count;                 /* 0: none given; using this collective is an error */
    const struct trace_set *custom; /* or NULL */
};

struct sim_custom_node {
    uint64_t node_id;
    const struct trace_set *custom;
};

struct sim_group {
    int32_t id; /* > 0 */
    uint32_t count;
    const uint32_t *ranks; /* in the order of the file */
};

/* Bytes of the memories that a rank's tensors can be in, nearest first; 0: there is none, or its size is not told. */
struct sim_capacity {
    uint64_t local; /* of each rank */
    uint64_t host;  /* of each server */
    uint64_t pool;  /* of all servers together */
};

/* What NCCL's messages cost beside the wires: nothing, or what a protocol costs (coll/timing/timing.h has their order).
 */
enum sim_nccl_protocol { SIM_NCCL_WIRES, SIM_NCCL_LL, SIM_NCCL_LL128, SIM_NCCL_SIMPLE };

struct sim_system {
    enum sim_scheduling scheduling;
    enum sim_optimization optimization;
    struct sim_implementation implementation[SIM_NATIVE_COUNT];
    const struct sim_custom_node *custom_nodes; /* per-node implementations */
    uint32_t custom_node_count;
    uint64_t endpoint_delay_ns; /* injection scale already applied */
    uint32_t active_chunks_per_dimension;
    uint32_t preferred_dataset_splits;
    double local_mem_bw_gbps; /* 1e9 bytes a second */
    double peak_perf_tflops;
    bool roofline_enabled;
    bool replay_only;
    bool shared_bus;
    uint64_t local_reduction_delay_ns;
    uint64_t bus_L_ns, bus_o_ns, bus_g_ns; /* LogGP, spec analytical §8.1 */
    double bus_G_ns_per_byte;
    uint32_t nccl_gpus_per_server; /* 0: what the machine says, else dimension 0 is a server */
    bool track_local_mem;          /* with sim_config.tensors */
    const char *local_mem_trace;   /* beginning of the names of ASTRA-sim's files about it */
    struct sim_capacity capacity;
    enum sim_nccl_protocol nccl_protocol;
    double nccl_nvls_efficiency; /* share of a link that reductions in the NVLink switch reach */
    bool nccl_collnet;           /* the network's switches can add up */
};

struct sim_memory {
    enum sim_memory_kind kind;
    uint64_t latency_ns;
    uint64_t bandwidth_gbps; /* 1e9 bytes a second = bytes a nanosecond */
    uint64_t nodes;
    uint64_t npus_per_node;
};

/* What a rank computes on, where ranks differ. */
struct sim_device {
    double peak_flops, memory_rate; /* operations and bytes a second, for the roofline; 0: the system file's */
    double scale;                   /* factor of the time of GPU compute */
    double link_factor;             /* of the rate of the rank's links; topo_dims.link_factors or the wires have it */
    const char *name;               /* as it was given; NULL: as the system file says */
};

/* Kind 0 is that of the system file. All zero: every rank has it. */
struct sim_devices {
    const char *text; /* the list they come from */
    const struct sim_device *kinds;
    uint32_t kind_count;
    const uint16_t *of_rank;
};

struct packet_machine;
struct net_fault; /* net/net.h */
struct trace_tensors;

struct timing_machine; /* coll/timing/timing.h */

struct sim_config {
    const char *machine; /* in the user's words, for the reports; NULL: files describe it */
    struct topo_dims dims;
    struct sim_system system;
    struct sim_memory memory;
    const struct sim_group *groups;
    uint32_t group_count;
    const struct trace_set *traces; /* one rank per dims.ranks */
    enum orr_backend backend;
    const struct net_fault *faults; /* ORR_BACKEND_AWARE: of its links, by time */
    uint32_t fault_count;
    const struct packet_machine *packet; /* ORR_BACKEND_PACKET: the wired machine (net/packet/packet.h) */
    uint32_t gpus_per_server;            /* where its file says so, else 0 */
    bool has_nvls;                       /* its GPUs' NVLink switches reduce (nccl_gpu_has_nvls) */
    enum orr_policy policy;              /* ASTRA, SAFE or STREAMS */
    double contention;                   /* 0 = kernels in flight do not notice each other (contention.c) */
    enum orr_broadcast broadcast;
    const struct timing_machine *timing; /* collectives take what NCCL does there (timed.c); NULL: they are simulated */
    double timing_factor;                /* of what they take so; 0: 1 */
    const struct timing_machine *library; /* what NCCL takes on this machine, for reports to compare with; or NULL */
    uint32_t queues_per_dim;
    bool rendezvous;
    double jitter;
    struct orr_noise noise;
    const double *straggling; /* by rank: factor of the time of GPU compute; NULL: nobody is slower */
    uint64_t seed;
    uint64_t steps; /* training steps in the traces, for the reports; 0: not told */
    struct orr_tuning tuning;
    struct sim_devices devices;
    const struct trace_tensors *const *tensors; /* by rank; NULL: what ranks hold in memory is not looked at */
    bool keep_intervals;                        /* also needed with tensors */
    uint32_t kept_rank;                         /* 0: of all ranks; else of rank kept_rank - 1 alone */
    bool keep_issue_order;
    bool no_symmetry;      /* every rank by itself (symmetry.c) */
    bool explain_symmetry; /* for the reports */
    bool no_memo;          /* every message by itself (rings.c) */
};

/* Whether GPU compute nodes go by the roofline: the run's word before the system file's. compute_time.c. */
bool sim_uses_roofline(const struct sim_config *config);
/* Whether times of GPU compute vary from rank to rank by chance. noise.c. */
bool sim_noise_parts_ranks(const struct sim_config *config);
/* The factor of one node's time of GPU compute. */
double sim_noise_factor(const struct sim_config *config, uint32_t rank, uint32_t node);
const struct sim_device *sim_device_of(const struct sim_config *config, uint32_t rank);

#endif
