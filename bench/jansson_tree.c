/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tree of the whole document costs: jansson's, the usual way to read JSON in C. */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Mapped, since json_load_file() would lose time with a call per byte. */
static const char *map_file(const char *path, size_t *size)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size <= 0)
        return NULL;
    *size = (size_t)st.st_size;
    void *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return bytes == MAP_FAILED ? NULL : bytes;
}

int main(int argc, char **argv)
{
    size_t size = 0;
    const char *bytes = argc == 2 ? map_file(argv[1], &size) : NULL;
    if (!bytes) {
        fprintf(stderr, "Usage: jansson_tree FILE (which must exist and hold something)\n");
        return 2;
    }
    json_error_t error;
    const json_t *tree = json_loadb(bytes, size, 0, &error);
    if (!tree) {
        fprintf(stderr, "jansson_tree: %s, at byte %d\n", error.text, error.position);
        return 1;
    }
    /* The tree is left to the end of the process: freeing it is no part of reading. */
    return printf("%zu\n", json_object_size(tree)) < 0;
}
