/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The floor of all reading: read() in blocks, and one look at every cache line of them. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOCK = 512 * 1024, LINE = 64 };

static unsigned char block[BLOCK];

/* Without a look at the bytes the copy out of the page cache would be all that is measured. */
static uint64_t touch(size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i += LINE)
        sum += block[i];
    return sum;
}

int main(int argc, char **argv)
{
    const int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        fprintf(stderr, "Usage: readloop FILE (which must exist)\n");
        return 2;
    }
    uint64_t sum = 0;
    ssize_t got;
    while ((got = read(fd, block, sizeof block)) > 0)
        sum += touch((size_t)got);
    close(fd);
    /* The sum goes out, so that the compiler cannot leave the loop out. */
    return got < 0 || printf("%llu\n", (unsigned long long)sum) < 0;
}
