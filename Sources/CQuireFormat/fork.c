/*
 * What a forked process must not take over of Swift's runtime.
 *
 * The locks behind `swift_once` store the number that the system gave to the thread, and each thread keeps its number
 * when it has asked for it once. The one thread of a forked process is another one to the system, yet finds the number
 * of the parent's. The kernel then refuses to give its lock to the threads that wait for it, and all of them hang. So
 * the child forgets the number, and the runtime asks anew.
 */
#ifdef QUIRE_STATIC_RUNTIME /* A shared runtime does not export the number. */
#include <pthread.h>
#include <stdint.h>

extern __thread uint32_t quire_thread_number __asm__("_ZZN5swift14threading_impl5linux13ulock_get_tidEvE3tid");

static void forget_thread_number(void) { quire_thread_number = 0; }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_thread_number); }
#else
typedef int quire_no_static_runtime;
#endif
