/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/copy_names.h"

#include <ctype.h>
#include <string.h>

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

/* By the name, ignoring letter case and punctuation: CUDA writes "Memcpy HtoD (…)", ROCm
 * "CopyHostToDevice", rocprof "MEMORY_COPY_DEVICE_TO_DEVICE", Intel "Memcpy M2D" for host
 * memory.  In "M2D" and "H2D" the letters follow "memcpy" or "copy". */
struct ta_slice ta_copy_direction(struct ta_slice name)
{
    static const struct {
        const char *direction, *brief, *full;
    } directions[] = {
        {"HtoD", "htod", "hosttodevice"}, {"DtoH", "dtoh", "devicetohost"},
        {"PtoP", "ptop", "peertopeer"},   {"DtoD", "dtod", "devicetodevice"},
        {"HtoH", "htoh", "hosttohost"},   {"HtoD", "pymd", "pyhd"},
        {"DtoH", "pydm", "pydh"},         {"DtoD", "pydd", "pydd"},
    };
    const struct letters letters = letters_of(name);
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (holds(&letters, directions[i].brief) || holds(&letters, directions[i].full))
            return ta_slice_of(directions[i].direction);
    return TA_LIT("other");
}

struct ta_slice ta_copy_memory(struct ta_slice name)
{
    const char *open = memchr(name.ptr, '(', name.len);
    if (!open || name.ptr[name.len - 1] != ')')
        return name;
    return (struct ta_slice){open + 1, (size_t)(ta_slice_end(name) - 1 - (open + 1))};
}

struct ta_slice ta_copy_host_memory(struct ta_slice name)
{
    static const char *const kinds[] = {"pageable", "pinned", "managed"};
    const struct ta_slice direction = ta_copy_direction(name);
    const struct letters letters = letters_of(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (holds(&letters, kinds[i]))
            return ta_slice_of(kinds[i]);
    return ta_slice_equal(direction, TA_LIT("DtoD")) || ta_slice_equal(direction, TA_LIT("PtoP"))
               ? TA_LIT("device")
               : TA_LIT("unknown");
}
