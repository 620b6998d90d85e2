/*
 * What a forked process must not take over of Swift's runtime.
 *
 * The locks behind `swift_once` store the number that the system gave to the thread, and each thread keeps its number
 * when it has asked for it once. The one thread of a forked process is another one to the system, yet finds the number
 * of the parent's. The kernel then refuses to give its lock to the threads that wait for it, and all of them hang. So
 * the child forgets the number, and the runtime asks anew.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>

#if defined(QUIRE_STATIC_RUNTIME)
extern __thread uint32_t quire_thread_number __asm__("_ZZN5swift14threading_impl5linux13ulock_get_tidEvE3tid");

static void forget_thread_number(void) { quire_thread_number = 0; }
#elif defined(QUIRE_THREAD_NUMBER) /* The offset of the number in the thread-local storage of libswiftCore.so. */
#include <link.h>
#include <string.h>

static int forget_number_of(struct dl_phdr_info *object, size_t size, void *nothing) {
    (void)size, (void)nothing;
    const char *const name = strrchr(object->dlpi_name, '/');
    if (!name || strcmp(name, "/libswiftCore.so") != 0 || !object->dlpi_tls_data) return 0;
    *(uint32_t *)((char *)object->dlpi_tls_data + QUIRE_THREAD_NUMBER) = 0;
    return 1;
}

static void forget_thread_number(void) { (void)dl_iterate_phdr(forget_number_of, NULL); }
#endif

#if defined(QUIRE_STATIC_RUNTIME) || defined(QUIRE_THREAD_NUMBER)
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_thread_number); }
#endif
