/* SPDX-License-Identifier: MIT */
/*
 * launcher - bin/glovebox of a bundle: executes the command with the dynamic loader and
 * libraries in ../lib. It is linked statically, so that it runs with any C library.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { LOADER_ARGS = 7 };

/* From AT_EXECFN, since /proc need not be mounted. */
static bool find_library_folder(char folder[PATH_MAX])
{
    const char *executed = (const char *)getauxval(AT_EXECFN);
    char program[PATH_MAX];
    char *name;

    if (executed == NULL || realpath(executed, program) == NULL)
        return false;
    name = strrchr(program, '/');
    *name = 0;
    errno = ENAMETOOLONG;
    return (size_t)snprintf(folder, PATH_MAX, "%s/../lib", program) < PATH_MAX - 32;
}

int main(int argc, char **argv)
{
    char folder[PATH_MAX];
    char search_path[2 * PATH_MAX + 16];
    char loader[PATH_MAX + 16];
    char command[PATH_MAX + 16];
    char **args = calloc((size_t)argc + LOADER_ARGS + 1, sizeof *args);
    char *first[LOADER_ARGS] = {"glovebox",  "--inhibit-cache", "--library-path",
                                search_path, "--argv0",         "glovebox",
                                command};

    if (args == NULL || !find_library_folder(folder)) {
        (void)fprintf(stderr, "glovebox: cannot find its own folder: %s\n",
                      strerror(errno));
        return 69;
    }
    (void)snprintf(loader, sizeof loader, "%s/ld.so", folder);
    (void)snprintf(search_path, sizeof search_path, "%s/glibc:%s", folder, folder);
    (void)snprintf(command, sizeof command, "%s/glovebox", folder);
    memcpy(args, first, sizeof first);
    for (int i = 1; i < argc; i++)
        args[LOADER_ARGS + i - 1] = argv[i];
    (void)execv(loader, args);
    (void)fprintf(stderr,
                  "glovebox: cannot execute '%s': %s: unpack the bundle again\n",
                  loader, strerror(errno));
    return 69;
}
