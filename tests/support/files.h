/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and folders of tests, and gzip; a test fails when the system refuses one. */
#ifndef TA_TEST_FILES_H
#define TA_TEST_FILES_H

#include <stddef.h>

/* A descriptor that reads these bytes from the start. */
int fixture_memory(const void *bytes, size_t size);

/* Writes a file. */
void fixture_write(const char *path, const void *bytes, size_t size);
/* Makes a folder that exists once, below the folder for temporary files; `path` takes 64 bytes. */
void fixture_folder(char *path);
/* Removes a folder with all that is in it. */
void fixture_remove(const char *path);

/* The bytes as gzip; the caller frees them. */
unsigned char *fixture_gzip(const void *bytes, size_t size, size_t *gz_size);

#endif
