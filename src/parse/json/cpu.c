/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing the instruction set of the scanner when the program runs. */
#include "parse/json/cpu.h"

#include "parse/json/layout.h"

#ifdef TA_HAVE_AVX2
/* What CMakeLists.txt compiles for; processors with AVX2 have all of these. */
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
}
#endif

static bool always(void)
{
    return true;
}

/* What this build has, the best first. */
static const struct variant {
    const char *name;
    bool (*works)(void);
    layout_scan_fn *scan;
} variants[] = {
#ifdef TA_HAVE_AVX2
    {"avx2", has_avx2, layout_scan_avx2},
#endif
#ifdef __SSE2__
    {"sse2", always, layout_scan_sse2},
#endif
    {"scalar", always, layout_scan_scalar},
    {"none", always, NULL},
};

/* NULL when it cannot be had. */
static const struct variant *find(const char *name)
{
    const bool best = !name || strcmp(name, "auto") == 0;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if ((best || strcmp(name, variants[i].name) == 0) && variants[i].works())
            return &variants[i];
    return NULL;
}

bool ta_cpu_has(const char *name)
{
    return find(name) != NULL;
}

layout_scan_fn *ta_cpu_scanner(const char *name)
{
    const struct variant *variant = find(name);
    return variant ? variant->scan : layout_scan_scalar;
}
