/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How threads of this program are started. */
#ifndef TA_BASE_THREAD_H
#define TA_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with a stack of a size of ours; false when the system gives none. */
bool ta_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
