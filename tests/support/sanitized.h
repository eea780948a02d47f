/* SPDX-License-Identifier: GPL-3.0-or-later */
/* IS_SANITIZED: whether this is compiled for the address or thread sanitizer of gcc or clang. */
#ifndef TA_TEST_SANITIZED_H
#define TA_TEST_SANITIZED_H

#ifdef __has_feature
#define SANITIZES(what) __has_feature(what)
#else
#define SANITIZES(what) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    SANITIZES(address_sanitizer) || SANITIZES(thread_sanitizer)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#endif
