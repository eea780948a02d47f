/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and folders of tests, and gzip. */
#include "files.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static void write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        const ssize_t n = write(fd, bytes, size);
        assert_true(n > 0);
        bytes += n;
        size -= (size_t)n;
    }
}

int fixture_memory(const void *bytes, size_t size)
{
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0);
    write_all(fd, bytes, size);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

void fixture_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    if (!file)
        fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void fixture_folder(char *path)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, 64, "%.40s/ta-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(path));
}

void fixture_remove(const char *path)
{
    DIR *folder = opendir(path);
    assert_non_null(folder);
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        char below[4096];
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (lstat(below, &st) == 0 && S_ISDIR(st.st_mode))
            fixture_remove(below);
        else
            unlink(below);
    }
    closedir(folder);
    rmdir(path);
}

unsigned char *fixture_gzip(const void *bytes, size_t size, size_t *gz_size)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    const size_t room = deflateBound(&z, size);
    unsigned char *out = malloc(room);
    assert_non_null(out);
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *gz_size = z.total_out;
    deflateEnd(&z);
    return out;
}
