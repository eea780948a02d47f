/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What names of copies say, as profilers of different vendors write them. */
#include "lib/copy_names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
    const char *name, *direction, *host, *memory;
} copies[] = {
    {"Memcpy HtoD (Pageable -> Device)", "HtoD", "pageable", "Pageable -> Device"},
    {"Memcpy DtoH (Device -> Pinned)", "DtoH", "pinned", "Device -> Pinned"},
    {"Memcpy DtoD (Device -> Device)", "DtoD", "device", "Device -> Device"},
    {"Memcpy PtoP (Device -> Device)", "PtoP", "device", "Device -> Device"},
    {"CopyHostToDevice", "HtoD", "unknown", "CopyHostToDevice"},
    {"CopyDeviceToHost", "DtoH", "unknown", "CopyDeviceToHost"},
    {"MEMORY_COPY_DEVICE_TO_DEVICE", "DtoD", "device", "MEMORY_COPY_DEVICE_TO_DEVICE"},
    {"Memcpy M2D", "HtoD", "unknown", "Memcpy M2D"},
    {"Memcpy D2M", "DtoH", "unknown", "Memcpy D2M"},
    {"Memcpy HtoH (Pageable -> Pinned)", "HtoH", "pageable", "Pageable -> Pinned"},
    {"Memset (Device)", "other", "unknown", "Device"},
    {"", "other", "unknown", ""},
    {"(", "other", "unknown", "("},
};

static void names_say_direction_and_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        const struct ta_slice name = ta_slice_of(copies[i].name);
        assert_true(ta_slice_equal(ta_copy_direction(name), ta_slice_of(copies[i].direction)));
        assert_true(ta_slice_equal(ta_copy_host_memory(name), ta_slice_of(copies[i].host)));
        assert_true(ta_slice_equal(ta_copy_memory(name), ta_slice_of(copies[i].memory)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_say_direction_and_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
