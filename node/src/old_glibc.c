/* SPDX-License-Identifier: MIT */
/*
 * old_glibc - lets the addon run on glibc 2.31, whatever newer one it is linked with.
 *
 * From 2.32 to 2.34, glibc gave functions of threads and of loading a new version in
 * which nothing else changed. The linker takes the newest versions, which an older glibc
 * lacks. So it is told to call these functions instead (--wrap in CMakeLists.txt), which
 * call the old versions. What is there only since 2.32 or 2.33 is made here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#    define FIRST   "GLIBC_2.2.5"
#    define SETNAME "GLIBC_2.12"
#elif defined(__aarch64__)
#    define FIRST   "GLIBC_2.17"
#    define SETNAME "GLIBC_2.17"
#endif

#define OLD(version, type, name, parameters, arguments)  \
    __asm__(".symver old_" #name "," #name "@" version); \
    extern type old_##name parameters;                   \
    type __wrap_##name parameters;                       \
    type __wrap_##name parameters                        \
    {                                                    \
        return old_##name arguments;                     \
    }

OLD(FIRST, void *, dlopen, (const char *file, int mode), (file, mode))
OLD(FIRST, char *, dlerror, (void), ())
OLD(FIRST, int, dladdr, (const void *address, Dl_info *ret), (address, ret))
OLD(FIRST, void *, dlsym, (void *library, const char *name), (library, name))
OLD(FIRST, int, pthread_create,
    (pthread_t * ret, const pthread_attr_t *attributes, void *(*start)(void *),
     void *arg),
    (ret, attributes, start, arg))
OLD(FIRST, int, pthread_detach, (pthread_t thread), (thread))
OLD(FIRST, int, pthread_join, (pthread_t thread, void **ret), (thread, ret))
OLD(FIRST, int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old),
    (how, set, old))
OLD(SETNAME, int, pthread_setname_np, (pthread_t thread, const char *name),
    (thread, name))
OLD("GLIBC_2.30", int, pthread_cond_clockwait,
    (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock,
     const struct timespec *until),
    (cond, mutex, clock, until))

/* Since 2.33; before, programs called another function. */
int __wrap_stat(const char *path, struct stat *ret);
int __wrap_stat(const char *path, struct stat *ret)
{
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret, 0);
}

int __wrap_fstat(int fd, struct stat *ret);
int __wrap_fstat(int fd, struct stat *ret)
{
    return (int)syscall(SYS_newfstatat, fd, "", ret, AT_EMPTY_PATH);
}

/* Since 2.32. NULL: the name is not known. */
const char *__wrap_sigabbrev_np(int number);
const char *__wrap_sigabbrev_np(int number)
{
    const char *(*there)(int number) = NULL;
    void *found = __wrap_dlsym(RTLD_DEFAULT, "sigabbrev_np");

    memcpy(&there, &found, sizeof found);
    return there != NULL ? there(number) : NULL;
}
