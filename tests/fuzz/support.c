/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz targets share. */
#include "support.h"

#include "parse/log/formats.h"
#include "traceanalyze/output.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fuzz_run *fuzz_begin(void)
{
    static struct fuzz_run run;
    static struct ta_log_formats log_formats;
    static const char *const limits[] = {"expanded=16MiB", "string=64KiB", "depth=64"};
    ta_shared_init(&run.shared);
    ta_ctx_init(&run.ctx, &run.shared);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        FUZZ_CHECK(ta_limits_set(&run.ctx, limits[i]) == TA_OK);
    if (!run.registry) {
        run.registry = ta_registry_new(&run.ctx);
        FUZZ_CHECK(run.registry && ta_log_formats_init(&log_formats, run.registry));
    }
    run.shared.log_formats = &log_formats;
    return &run;
}

int fuzz_file(const void *data, size_t size)
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(size == 0 || write(fd, data, size) == (ssize_t)size);
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

char *fuzz_contents(int fd, size_t *size)
{
    struct stat st;
    FUZZ_CHECK(fstat(fd, &st) == 0);
    *size = (size_t)st.st_size;
    char *bytes = malloc(*size + 1);
    FUZZ_CHECK(bytes);
    FUZZ_CHECK(pread(fd, bytes, *size, 0) == st.st_size);
    bytes[*size] = '\0';
    return bytes;
}

/* Where an output to "standard output" goes: a file in memory behind descriptor 1. */
static void redirect(void)
{
    static bool done;
    if (!done) {
        const int fd = memfd_create("product", 0);
        FUZZ_CHECK(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
        close(fd);
        done = true;
    }
    FUZZ_CHECK(ftruncate(STDOUT_FILENO, 0) == 0 && lseek(STDOUT_FILENO, 0, SEEK_SET) == 0);
}

char *fuzz_render(struct fuzz_run *run, const char *id, const struct ta_report *report,
                  size_t *size)
{
    const struct ta_render_options options = {
        .top = 30, .columns = 80, .theme = "auto", .version = "0"};
    const struct ta_entry *output = ta_registry_find(run->registry, TA_KIND_output, id);
    FUZZ_CHECK(output);
    redirect();
    struct ta_sink *sink = ta_sink_new(&run->ctx, TA_SINK_STDOUT, NULL);
    FUZZ_CHECK(sink);
    run->ctx.option_values = output->option_values;
    FUZZ_CHECK(output->plugin.output->write(&run->ctx, report, &options, sink) == TA_OK);
    FUZZ_CHECK(ta_sink_commit(&run->ctx, sink) == TA_OK);
    ta_sink_free(sink);
    return fuzz_contents(STDOUT_FILENO, size);
}
