/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz targets share. */
#include "support.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fuzz_run *fuzz_begin(void)
{
    static struct fuzz_run run;
    static const char *const limits[] = {"expanded=16MiB", "string=64KiB", "depth=64"};
    ta_shared_init(&run.shared);
    ta_ctx_init(&run.ctx, &run.shared);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        FUZZ_CHECK(ta_limits_set(&run.ctx, limits[i]) == TA_OK);
    if (!run.registry)
        run.registry = ta_registry_new(&run.ctx);
    FUZZ_CHECK(run.registry);
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
