/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the name of a copy tells, and classes of sizes. */
#include "copies.h"

#include <ctype.h>

/* Letters of a name in lower case; names of copies are short. */
struct letters {
    char at[128];
    size_t n;
};

static struct letters letters_of(struct ta_slice name)
{
    struct letters letters = {.n = 0};
    for (size_t i = 0; i < name.len && letters.n < sizeof letters.at; i++)
        if (isalpha((unsigned char)name.ptr[i]))
            letters.at[letters.n++] = (char)tolower((unsigned char)name.ptr[i]);
    return letters;
}

static bool holds(const struct letters *letters, const char *text)
{
    return memmem(letters->at, letters->n, text, strlen(text)) != NULL;
}

/* By name, letter case and punctuation ignored: CUDA writes "Memcpy HtoD (…)", ROCm
 * "CopyHostToDevice", rocprof "MEMORY_COPY_DEVICE_TO_DEVICE". */
struct ta_slice copies_direction(struct ta_slice name)
{
    static const struct {
        const char *direction, *brief, *full;
    } directions[] = {
        {"HtoD", "htod", "hosttodevice"}, {"DtoH", "dtoh", "devicetohost"},
        {"PtoP", "ptop", "peertopeer"},   {"DtoD", "dtod", "devicetodevice"},
        {"HtoH", "htoh", "hosttohost"},
    };
    const struct letters letters = letters_of(name);
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (holds(&letters, directions[i].brief) || holds(&letters, directions[i].full))
            return ta_slice_of(directions[i].direction);
    return TA_LIT("other");
}

struct ta_slice copies_memory(struct ta_slice name)
{
    const char *open = memchr(name.ptr, '(', name.len);
    if (!open || name.ptr[name.len - 1] != ')')
        return name;
    return (struct ta_slice){open + 1, (size_t)(ta_slice_end(name) - 1 - (open + 1))};
}

struct ta_slice copies_host_memory(struct ta_slice name)
{
    static const char *const kinds[] = {"pageable", "pinned", "managed"};
    const struct ta_slice direction = copies_direction(name);
    const struct letters letters = letters_of(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (holds(&letters, kinds[i]))
            return ta_slice_of(kinds[i]);
    return ta_slice_equal(direction, TA_LIT("DtoD")) || ta_slice_equal(direction, TA_LIT("PtoP"))
               ? TA_LIT("device")
               : TA_LIT("unknown");
}

/* ---- sizes ---------------------------------------------------------------------------------- */

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

static const struct {
    int64_t from;
    const char *name;
} sizes[COPIES_SIZES] = {
    {0, "below 1 KiB"},
    {KIB, "1 to 10 KiB"},
    {10 * KIB, "10 to 100 KiB"},
    {100 * KIB, "100 KiB to 1 MiB"},
    {MIB, "1 to 10 MiB"},
    {10 * MIB, "10 to 100 MiB"},
    {100 * MIB, "100 MiB to 1 GiB"},
    {GIB, "1 to 10 GiB"},
    {10 * GIB, "10 to 100 GiB"},
    {100 * GIB, "from 100 GiB"},
};

enum { SIZES = sizeof sizes / sizeof *sizes };

int copies_size_class(int64_t bytes)
{
    int class = 0;
    while (class + 1 < SIZES && bytes >= sizes[class + 1].from)
        class ++;
    return class;
}

int64_t copies_size_from(int size_class)
{
    return sizes[size_class].from;
}

const char *copies_size_name(int size_class)
{
    return sizes[size_class].name;
}
