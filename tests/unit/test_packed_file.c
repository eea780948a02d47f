/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are packed while they are written are gzip, whatever their size and the number of
 * threads, and bytes of others can be written over. */
#include "base/write/file.h"

#include "files.h"
#include "trace_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

enum { MEBIBYTE = 1 << 20, LARGEST = 17 * MEBIBYTE };

static struct ta_shared shared;
static char folder[64];

static const char *below(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void start(struct ta_file *file, const char *name)
{
    const char *path = below(name);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(ta_file_start(file, fd, false, strdup(path)));
}

/* Writes `n` bytes in pieces of odd sizes. */
static void write_packed(const char *name, const char *bytes, size_t n, size_t helpers)
{
    struct ta_ctx ctx;
    struct ta_file file;
    ta_ctx_init(&ctx, &shared);
    ctx.helpers = helpers;
    start(&file, name);
    ta_file_pack(&ctx, &file, "a comment of a test");
    assert_false(ta_file_can_patch(&file));
    for (size_t at = 0, piece = 1; at < n; at += piece, piece = piece * 5 % 700001 + 1) {
        piece = piece < n - at ? piece : n - at;
        ta_put(&file, (struct ta_slice){bytes + at, piece});
    }
    assert_int_equal(ta_file_bytes(&file), n);
    assert_int_equal(ta_file_close(&ctx, &file), TA_OK);
    ta_file_end(&file);
}

static char *read_file(const char *name, size_t *n)
{
    static char bytes[LARGEST + MEBIBYTE];
    FILE *file = fopen(below(name), "rb");
    assert_non_null(file);
    *n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return bytes;
}

static void check_packed(const char *bytes, size_t n)
{
    static char back[LARGEST + 1];
    write_packed("one.gz", bytes, n, 0);
    gzFile packed = gzopen(below("one.gz"), "rb");
    assert_non_null(packed);
    assert_int_equal(gzread(packed, back, sizeof back), n);
    assert_int_equal(gzclose(packed), Z_OK); /* checks checksum and length */
    assert_memory_equal(back, bytes, n);
    size_t size, size_of_other;
    char *first = malloc(LARGEST + MEBIBYTE);
    assert_non_null(first);
    memcpy(first, read_file("one.gz", &size), LARGEST + MEBIBYTE);
    assert_non_null(memmem(first, size < 64 ? size : 64, "a comment of a test", 19));
    write_packed("other.gz", bytes, n, 3);
    assert_memory_equal(read_file("other.gz", &size_of_other), first, size);
    assert_int_equal(size, size_of_other);
    free(first);
}

static void packed_files(void **state)
{
    static const size_t sizes[] = {
        0, 1, 1000, MEBIBYTE, MEBIBYTE + 1, 8 * MEBIBYTE - 1, 8 * MEBIBYTE, LARGEST};
    (void)state;
    char *bytes = malloc(LARGEST);
    assert_non_null(bytes);
    uint64_t random = 1;
    for (size_t i = 0; i < LARGEST; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (char)(i % 4 ? i >> 7 : random >> 40);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_packed(bytes, sizes[i]);
    free(bytes);
}

static void patches(void **state)
{
    (void)state;
    struct ta_ctx ctx;
    struct ta_file file;
    ta_ctx_init(&ctx, &shared);
    start(&file, "patched");
    assert_true(ta_file_can_patch(&file));
    ta_puts(&file, "0123456789");
    ta_file_patch(&file, 3, TA_LIT("abc"));
    ta_puts(&file, "tail");
    ta_file_patch(&file, 9, TA_LIT("x"));
    assert_int_equal(ta_file_bytes(&file), 14);
    assert_int_equal(ta_file_close(&ctx, &file), TA_OK);
    ta_file_end(&file);
    size_t n;
    const char *bytes = read_file("patched", &n);
    assert_int_equal(n, 14);
    assert_memory_equal(bytes, "012abc678xtail", 14);
}

static void pipes_cannot_be_patched(void **state)
{
    (void)state;
    struct ta_file file;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(ta_file_start(&file, ends[1], false, strdup("a pipe")));
    assert_false(ta_file_can_patch(&file));
    ta_file_end(&file);
    close(ends[0]);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct ta_ctx ctx;
    struct ta_file file;
    ta_ctx_init(&ctx, &shared);
    const int fd = open("/dev/full", O_WRONLY);
    if (fd < 0)
        skip();
    assert_true(ta_file_start(&file, fd, false, strdup("/dev/full")));
    ta_file_pack(&ctx, &file, "c");
    ta_puts(&file, "text");
    assert_int_equal(ta_file_close(&ctx, &file), TA_ERR_OUTPUT);
    ta_file_end(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packed_files), cmocka_unit_test(patches),
                                       cmocka_unit_test(pipes_cannot_be_patched),
                                       cmocka_unit_test(a_full_disk_is_an_error)};
    ta_shared_init(&shared);
    fixture_folder(folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fixture_remove(folder);
    return failed;
}
