/* SPDX-License-Identifier: MIT */
/*
 * under_profile - runs a program under a container's seccomp profile, as a container
 * runtime would, or says which system calls the profile refuses.
 *
 *     under_profile PROFILE PROGRAM [ARGUMENT...]
 *     under_profile PROFILE --refused NAME...
 */
#include <errno.h>
#include <jansson.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
    (void)fprintf(stderr, "under_profile: %s\n", what);
    exit(99);
}

static void allow(scmp_filter_ctx filter, const json_t *names)
{
    const json_t *name;
    size_t i;

    json_array_foreach(names, i, name)
    {
        int number = seccomp_syscall_resolve_name(json_string_value(name));

        if (number == __NR_SCMP_ERROR)
            continue; /* of a newer kernel than this libseccomp knows */
        if (number >= 0 && seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) != 0)
            die("a call cannot be allowed");
    }
}

static void apply(const char *path)
{
    json_t *profile = json_load_file(path, 0, NULL);
    uint32_t refusal = SCMP_ACT_KILL_PROCESS;
    const char *action;
    const json_t *set;
    scmp_filter_ctx filter;
    size_t i;

    if (profile == NULL)
        die("the profile is not JSON");
    action = json_string_value(json_object_get(profile, "defaultAction"));
    if (strcmp(action, "SCMP_ACT_ERRNO") == 0)
        refusal = SCMP_ACT_ERRNO(
            (uint16_t)json_integer_value(json_object_get(profile, "defaultErrnoRet")));
    else if (strcmp(action, "SCMP_ACT_KILL_PROCESS") != 0)
        die("the profile's default is another");
    filter = seccomp_init(refusal);
    if (filter == NULL)
        die("there is no filter");
    json_array_foreach(json_object_get(profile, "syscalls"), i, set)
        allow(filter, json_object_get(set, "names"));
    if (seccomp_load(filter) != 0)
        die("the filter cannot be loaded");
    seccomp_release(filter);
    json_decref(profile);
}

/* Nothing but the number is passed, so a call that is allowed fails otherwise. */
static void print_refused(char **names)
{
    for (; *names != NULL; names++)
        if (syscall(seccomp_syscall_resolve_name(*names), -1L, -1L, -1L, -1L, -1L,
                    -1L) == -1 &&
            errno == ENOSYS)
            (void)printf("%s\n", *names);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage: under_profile PROFILE PROGRAM [ARGUMENT...]");
    apply(argv[1]);
    if (strcmp(argv[2], "--refused") == 0) {
        print_refused(argv + 3);
        return 0;
    }
    (void)execvp(argv[2], argv + 2);
    die("the program cannot be executed");
    return 99;
}
