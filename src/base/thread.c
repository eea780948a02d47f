/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/thread.h"

/* The default is what `ulimit -s` says, 8 MiB mostly: with a thread for each of many cores that is
 * more address space than all the rest takes.  Nothing here recurses as deep as its input. */
enum { STACK_BYTES = 2 << 20 };

bool ta_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    const bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                         pthread_create(thread, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}
