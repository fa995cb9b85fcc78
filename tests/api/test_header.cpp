// SPDX-License-Identifier: Apache-2.0
// orrery.h in C++: it compiles without a warning, and a program of the language's own kind can use it.
#include <orrery.h>

#include <cstdio>
#include <memory>
#include <string>

namespace
{

struct run_closer {
    void operator()(orr_run *run) const
    {
        orr_run_close(run);
    }
};

bool append(void *context, const char *bytes, size_t size)
{
    static_cast<std::string *>(context)->append(bytes, size);
    return true;
}

int fail(const orr_error &err)
{
    std::fprintf(stderr, "%s\n", err.text);
    return 1;
}

} // namespace

int main()
{
    orr_error err{};
    orr_gen_options job{};
    job.type = "all-reduce";
    job.bytes = 1 << 20;
    job.npus = 8;
    job.prefix = "cpp";
    orr_run_options options;
    orr_run_options_init(&options);
    options.workload = job.prefix;
    options.machine = "ring8";
    orr_run *opened = nullptr;
    if (orr_gen(&job, &err) != ORR_OK || orr_run_open(&options, &opened, &err) != ORR_OK) {
        return fail(err);
    }
    std::unique_ptr<orr_run, run_closer> run(opened);
    std::string text;
    FILE *stream = nullptr;
    if (orr_run_execute(run.get(), &err) != ORR_OK || orr_stream_to(append, &text, &stream, &err) != ORR_OK) {
        return fail(err);
    }
    orr_status written = orr_run_write(run.get(), ORR_OUTPUT_TEXT, nullptr, stream, &err);
    orr_status closed = orr_stream_close(stream, written == ORR_OK ? &err : nullptr);
    if (written != ORR_OK || closed != ORR_OK) {
        return fail(err);
    }
    std::printf("%s", text.c_str());
    return 0;
}
