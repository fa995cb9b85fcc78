/* SPDX-License-Identifier: Apache-2.0 */
/* `orrery serve`: the library behind HTTP, for a browser on this machine. */
#include "cli/cli.h"

#include <signal.h>

struct serve_options {
    struct orr_serve_options serve;
    struct cli_words paths;
    bool openapi;
};

#define AT(field) .place = offsetof(struct serve_options, field)

static const struct param serve_rows[] = {
    {"port", .letter = 'p', .kind = PARAM_COUNT32, .group = PARAM_WHAT, .value = "N", .most = 65535, AT(serve.port),
     .unwritten = "any that is free", .help = "The port to listen on, of 127.0.0.1"},
    {"threads", .letter = 'j', .kind = PARAM_COUNT32, .group = PARAM_OTHER, .value = "N", .most = 64, AT(serve.threads),
     .unwritten = "all processors", .help = "Requests that are processed at once"},
    {"connections", .kind = PARAM_COUNT32, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "N", .least = 1,
     .most = 10000, AT(serve.connections), .initial = "512", .help = "Limit on open connections; more are refused"},
    {"time-limit", .kind = PARAM_TIME, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "TIME", .unit = "s",
     .least = 1000000, AT(serve.time_limit_ns), .initial = "30s", .help = "Time limit of one answer"},
    {"patience", .kind = PARAM_TIME, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "TIME", .unit = "s",
     .least = 1000000, AT(serve.patience_ns), .initial = "10s",
     .help = "Time limit for a request to arrive completely"},
    {"memory-limit", .kind = PARAM_SIZE, .group = PARAM_OTHER, .flags = PARAM_RARE, .value = "SIZE", .least = 1,
     AT(serve.memory_limit), .initial = "2GiB", .help = "Memory limit of one answer"},
    {"openapi", .kind = PARAM_FLAG, .group = PARAM_OUTPUT, AT(openapi),
     .help = "Print the API as an OpenAPI document, and exit"},
    {0},
};

static const struct param_table serve_tables[] = {{serve_rows, 0, 0}, {0}};

/* The signals that end it are blocked before the first thread is made, which inherits that, and waited for here. */
static int serve_until_signal(const struct orr_serve_options *options)
{
    struct orr_serve *serve = NULL;
    struct orr_error err = {0};
    sigset_t ends, before;
    int number = 0;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, &before);
    enum orr_status status = orr_serve_open(options, &serve, &err);
    if (status == ORR_OK) {
        printf("Serving at %s\n", orr_serve_url(serve));
        (void)fflush(stdout);
        (void)sigwait(&ends, &number);
        orr_serve_close(serve);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return cli_end(status, &err);
}

static int serve_run(const struct cli_command *self, int argc, char **argv)
{
    struct serve_options options = {0};
    struct orr_error err = {0};
    int code = 0;
    orr_serve_options_init(&options.serve);
    if (!cli_begin(self, argc, argv, &options, &code)) {
        return code;
    }
    if (options.paths.count > 1) {
        return cli_end(
            error_set(&err, ORR_EINVAL, "one store or folder is served; \"%.80s\" is a second", options.paths.list[1]),
            &err);
    }
    options.serve.path = options.paths.count > 0 ? options.paths.list[0] : NULL;
    return options.openapi ? cli_end(orr_serve_openapi(stdout, &err), &err) : serve_until_signal(&options.serve);
}

static const struct cli_usage serve_usage = {
    .tables = serve_tables,
    .forms = "[DB|DIR]",
    .words = offsetof(struct serve_options, paths),
    .about = "Serve a web page and a JSON API on this machine: training steps, collectives, plans, and "
             "the runs of a result store or the files of a folder. Only requests with the token of the printed URL are "
             "answered. "
             "Ctrl-C ends it. See docs/serve.md.",
    .examples = "  orrery serve\n"
                "  orrery serve runs/orrery.db --port 8080\n"
                "  orrery serve runs\n",
};

const struct cli_command cli_serve = {
    .name = "serve", .summary = "simulate interactively in the browser", .usage = &serve_usage, .run = serve_run};
