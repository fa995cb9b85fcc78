/* SPDX-License-Identifier: Apache-2.0 */
/* The batch script of a sweep for Slurm: an array of shards, or one job of MPI. It holds the command as it was typed,
 * so that the same file runs the sweep, goes on with it, and collects. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_stream.h"
#include "cli/sweep.h"

static void slurm_head(FILE *stream, const struct sweep_slurm *slurm)
{
    (void)fputs("#!/bin/bash\n#SBATCH --job-name=orrery-sweep\n", stream);
    if (slurm->form == SWEEP_SLURM_MPI) {
        (void)fprintf(stream, "#SBATCH --ntasks=%" PRIu32 "\n#SBATCH --output=%s.%%j.out\n", slurm->tasks, slurm->file);
    } else {
        (void)fprintf(stream, "#SBATCH --array=1-%" PRIu32 "\n#SBATCH --ntasks=1\n#SBATCH --output=%s.%%A.%%a.out\n",
                      slurm->tasks, slurm->file);
    }
    (void)fprintf(stream, "#SBATCH --cpus-per-task=%" PRIu32 "\n", slurm->threads > 0 ? slurm->threads : 1);
}

/* One where the command does not say: --threads all would take what Slurm has given to others. */
static const char *slurm_threads(const struct sweep_slurm *slurm)
{
    return slurm->threads > 0 ? "" : " --threads 1";
}

static void slurm_array(FILE *stream, const struct sweep_slurm *slurm, const char *words)
{
    (void)fprintf(stream,
                  "# Run it:      sbatch %s\n"
                  "# Collect:     sh %s collect\n"
                  "# or, behind it: sbatch --dependency=afterany:JOB --array=0 %s collect\n"
                  "if [ \"${1:-}\" = collect ]; then\n"
                  "    exec orrery sweep --collect%s\n"
                  "fi\n"
                  "exec orrery sweep --shard \"$SLURM_ARRAY_TASK_ID/%" PRIu32 "\"%s%s\n",
                  slurm->file, slurm->file, slurm->file, words, slurm->tasks, slurm_threads(slurm), words);
}

static void slurm_mpi(FILE *stream, const struct sweep_slurm *slurm, const char *words)
{
    (void)fprintf(stream,
                  "# Run it: sbatch %s; again where it was ended: what has ended is kept\n"
                  "exec mpirun orrery sweep%s%s\n",
                  slurm->file, slurm_threads(slurm), words);
}

enum orr_status sweep_slurm_write(const struct sweep_slurm *slurm, const char *command, struct orr_error *err)
{
    static const char name[] = "orrery sweep";
    const char *words = strncmp(command, name, sizeof name - 1) == 0 ? command + sizeof name - 1 : command;
    char *text = NULL;
    size_t size = 0;
    char *folder = getcwd(NULL, 0);
    char *quoted = folder == NULL ? NULL : cli_quote_command(2, (char *[]){"cd", folder});
    FILE *stream = quoted == NULL ? NULL : text_stream_open(&text, &size);
    enum orr_status status = stream == NULL ? error_set(err, ORR_ENOMEM, "out of memory for a script") : ORR_OK;
    if (status == ORR_OK) {
        slurm_head(stream, slurm);
        (void)fprintf(stream, "%s || exit 1\n", quoted);
        (slurm->form == SWEEP_SLURM_MPI ? slurm_mpi : slurm_array)(stream, slurm, words);
        status = fclose(stream) == 0 ? orr_file_write(slurm->file, text, size, err)
                                     : error_set(err, ORR_ENOMEM, "out of memory for a script");
    }
    if (status == ORR_OK) {
        (void)printf("Wrote %s: sbatch %s runs the sweep%s.\n", slurm->file, slurm->file,
                     slurm->form == SWEEP_SLURM_MPI ? ""
                                                    : ", and sh with the word collect behind it gathers the points");
    }
    free(text);
    free(quoted);
    free(folder);
    return status;
}
