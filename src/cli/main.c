/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program: finds the subcommand and hands it the rest. The names of ASTRA-sim's two analytical binaries (by
 * symbolic link) mean `run` in ASTRA-sim's manner, those of Chakra's and SimAI's programs theirs, so that a script
 * changes a path and nothing else.
 */
#include "cli/aicb_names.h"
#include "cli/chakra_names.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "cli/simai.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct cli_command *const commands[] = {
    &cli_run,   &cli_train,   &cli_plan,   &cli_goodput,    &cli_advise, &cli_tune,    &cli_validate,
    &cli_sweep, &cli_lab,     &cli_report, &cli_serve,      &cli_follow, &cli_calib,   &cli_gen,
    &cli_trace, &cli_machine, &cli_topo,   &cli_coll,       &cli_op,     &cli_simai,   &cli_calc,
    &cli_cost,  &cli_doctor,  &cli_config, &cli_completion, &cli_help,   &cli_version, NULL,
};

static int run_orrery(const struct cli_command *self, int argc, char **argv)
{
    if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        return cli_version.run(&cli_version, 1, argv);
    }
    if (argc > 1 && cli_chakra_find(argv[1]) != NULL) {
        return cli_chakra_find(argv[1])(argc - 1, argv + 1);
    }
    int exit_code = 0;
    if (argc > 1 && cli_aicb_named(argv[1], argc - 1, argv + 1, &exit_code)) {
        return exit_code;
    }
    return cli_dispatch(self, argc, argv);
}

const struct cli_command cli_orrery = {
    .name = "orrery",
    .summary = "a simulator of distributed AI training",
    .subcommands = commands,
    .about = "First steps (orrery config describes the two files of the machine):\n"
             "  orrery gen collective --type all-reduce --bytes 1MiB --npus 8 -o traces/ar\n"
             "  orrery trace stat traces/ar.0.et\n"
             "  orrery run --workload traces/ar --system system.json --network network.yml\n"
             "A job recorded with PyTorch (orrery trace recipe prints a script for that):\n"
             "  orrery trace import recording -o traces/job\n"
             "A wired machine, and a collective as NCCL does it on 16 GPUs:\n"
             "  orrery topo make 'dgx-h100:16 > rail:400Gbps > spine:8' -o rails.topo\n"
             "  orrery coll show --gpus 16 --bytes 64MiB\n"
             "A model's training step as AICB writes it, timed as SimAI does:\n"
             "  orrery gen aicb training --model llama-7b --world_size 64 \\\n"
             "      --tensor_model_parallel_size 8 --global_batch 64 -o llama7b.txt\n"
             "  orrery simai analytical -w llama7b.txt -g 64 -g_p_s 8 -n_p_s 8 -g_type H100\n"
             "\n"
             "Chakra's programs are here under their own names: orrery chakra_converter,\n"
             "chakra_trace_link, chakra_jsonizer, chakra_visualizer, chakra_generator,\n"
             "chakra_timeline_visualizer. Linked as AstraSim_Analytical_Congestion_Unaware,\n"
             "..._Aware, AstraSimNetwork, SimAI_analytical or SimAI_simulator the program\n"
             "takes that one's place; so it does as SimAI's gen_Topo_Template.py, AICB's\n"
             "run_suites and scripts (megatron_gpt.sh, inference_workload_with_aiob.sh ...),\n"
             "which can be its first word too.\n"
             "\n"
             "Exit codes: 0 done, 1 the run failed or was interrupted, 2 bad usage or input,\n"
             "3 resource limit, 4 the simulated job stalls.\n",
    .run = run_orrery,
};

/* A closed descriptor 0, 1 or 2 would be given to the next file opened, and messages or results would be written into
 * it. Taken by /dev/null in the wrong direction it stays an error, as it should. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
        }
    }
}

/* stdio forgets why a write failed when another follows it. A terminal gets its lines as ever; elsewhere any help page
 * and any usual result fit this buffer, so that their only write is the one in cli_finish, which tells the reason. */
static void widen_standard_output(void)
{
    static char buffer[64 * 1024]; /* exit flushes after main has returned */
    (void)setvbuf(stdout, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof buffer);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    widen_standard_output();
    /* A reader that went away is then an error of write, which cli_finish reports, instead of a silent death. */
    (void)signal(SIGPIPE, SIG_IGN);
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = argc > 0 ? (slash != NULL ? slash + 1 : argv[0]) : "orrery";
    enum orr_backend backend = ORR_BACKEND_UNAWARE;
    int exit_code = 0;
    if (cli_run_astra_name(name, &backend)) {
        exit_code = cli_run_as_astra(backend, argc, argv);
    } else if (cli_chakra_find(name) != NULL) {
        exit_code = cli_chakra_find(name)(argc, argv);
    } else if (cli_simai_find(name) != NULL) {
        exit_code = cli_simai_find(name)(argc, argv);
    } else if (!cli_aicb_named(name, argc, argv, &exit_code)) {
        exit_code = cli_orrery.run(&cli_orrery, argc, argv);
    }
    return cli_finish(exit_code);
}
