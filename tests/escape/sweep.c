/* SPDX-License-Identifier: MIT */
/* sweep - see sweep.h. */
#include "escape/sweep.h"

#include "base/cleanup.h"
#include "seal/internal.h"
#include "worker/attack_table.h"

#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Of x86-64, for tracers: since Linux 6.11 and 6.18. */
#define NR_URETPROBE 335
#define NR_UPROBE    336

#define RETURNED "returned "
#define WRAP     88

static void free_name(char **name)
{
    free(*name);
}

static bool is_executed(const gbx_rules *rules, unsigned number)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->list[i].number == (int)number &&
            rules->list[i].class_ == GBX_RULE_EXECUTE)
            return true;
    return false;
}

/* What an executed call makes of the arguments that the sweep gives it. */
static gbx_swept executed(unsigned number)
{
    if (number == SYS_exit_group)
        return (gbx_swept){.how = GBX_SWEPT_EXITED};
    if (number == SYS_read || number == SYS_write)
        return (gbx_swept){.how = GBX_SWEPT_RETURNED, .value = 0};
    return (gbx_swept){.how = GBX_SWEPT_RETURNED, .value = -EINVAL};
}

/* ---- printing ---------------------------------------------------------------------- */

static const char *test_name(const gbx_rule_arg *arg, char *text, size_t size)
{
    const char *how = arg->differs ? "is not" : "is";

    if (arg->mask == UINT64_MAX || arg->mask == UINT32_MAX)
        (void)snprintf(text, size, "argument %u %s %lld", arg->index + 1u, how,
                       (long long)(arg->mask == UINT32_MAX ? (int)arg->value
                                                           : (int64_t)arg->value));
    else if (arg->value == 0 && arg->mask <= UINT32_MAX)
        (void)snprintf(text, size, "argument %u without bits 0x%llx", arg->index + 1u,
                       (unsigned long long)arg->mask);
    else
        (void)snprintf(text, size, "argument %u is 0x%llx, but for bits 0x%llx",
                       arg->index + 1u, (unsigned long long)arg->value,
                       (unsigned long long)~arg->mask);
    return text;
}

static void print_rule(FILE *to, const gbx_rule *rule)
{
    char text[96];
    size_t tests = 0;

    (void)fprintf(to, "| `%s` | ", rule->name);
    for (size_t i = 0; i < GBX_RULE_ARGS_MAX; i++)
        if (rule->args[i].mask != 0)
            (void)fprintf(to, "%s%s", tests++ == 0 ? "" : ", ",
                          test_name(&rule->args[i], text, sizeof text));
    if (tests == 0)
        (void)fputs("any", to);
    if (rule->class_ == GBX_RULE_ANSWER)
        (void)fprintf(to, " | %s",
                      rule->error == 0 ? "0" : strerrorname_np(rule->error));
    (void)fprintf(to, " | %s |\n", rule->reason);
}

static void print_rules(FILE *to, const gbx_rules *rules, gbx_rule_class class_)
{
    (void)
        fputs(class_ == GBX_RULE_EXECUTE
                  ? "| call | arguments | why |\n| --- | --- | --- |\n"
                  : "| call | arguments | answer | why |\n| --- | --- | --- | --- |\n",
              to);
    for (size_t i = 0; i < rules->count; i++)
        if (rules->list[i].number >= 0 && rules->list[i].class_ == class_)
            print_rule(to, &rules->list[i]);
    (void)fputc('\n', to);
}

/* Names in order of their numbers, wrapped; numbers without a name are counted. */
static void print_killed(FILE *to, const gbx_swept *swept)
{
    unsigned nameless = 0;
    unsigned count = 0;
    int column = 0;

    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++) {
        GBX_CLEANUP(free_name) char *name = NULL;

        if (swept[number].how != GBX_SWEPT_KILLED || gbx_sweep_is_unfiltered(number))
            continue;
        count++;
        name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
        if (name == NULL) {
            nameless++;
            continue;
        }
        if (column > 0 && column + (int)strlen(name) + 3 > WRAP)
            column = fputc('\n', to) - '\n';
        column += fprintf(to, "%s`%s`", column == 0 ? "" : " ", name);
    }
    (void)fprintf(
        to,
        "\n\nThese and %u numbers that have no name in the library: %u of %u "
        "numbers kill the\nprocess.\n\n"
        "Two numbers of x86-64 are beyond any filter: Linux lets `uretprobe` (335, "
        "since 6.11)\nand `uprobe` (336, since 6.18) pass before it looks, for "
        "tracers that put them into a\nprogram. Where no tracer has, the first "
        "ends the process by SIGILL and the second\nreturns ENXIO; older kernels "
        "kill for both.\n",
        nameless, count, GBX_SWEEP_COUNT);
}

static const char head[] =
    "# System calls of a sealed worker\n"
    "\n"
    "Generated: the lines are the table that the filter is made from\n"
    "(`src/seal/seccomp_table.c`), the rest is a live run of every number from 0 to 1023,\n"
    "each in a fresh sealed process. The CMake target `docs-syscalls` writes it again; the\n"
    "test `test_sweep` fails if it is not what a run finds. Every number is also tried\n"
    "with the bit of the x32 ABI, which kills, and some through the 32-bit entry, which\n"
    "kills too.\n"
    "\n"
    "Three classes. An *executed* call enters the kernel; an *answered* one returns a\n"
    "fixed value and nothing else happens; any other *kills* the process with SIGSYS,\n"
    "which the host reports as `VIOLATION`.\n"
    "\n";

/* ---- to the test and the generator ----------------------------------------------------- */

gbx_swept gbx_sweep_one(gbx_attack_session *session, unsigned number)
{
    int detail = -1;
    gbx_attack_outcome outcome =
        gbx_attack_try(session, GBX_ATTACK_SWEEP + number, &detail);
    const char *note = gbx_attack_note(session);

    if (outcome == GBX_ATTACK_KILLED)
        return (gbx_swept){.how = GBX_SWEPT_KILLED};
    if (outcome == GBX_ATTACK_SUCCEEDED && detail == GBX_ATTACK_SWEEP_STATUS)
        return (gbx_swept){.how = GBX_SWEPT_EXITED};
    if (outcome == GBX_ATTACK_REFUSED && strncmp(note, RETURNED, strlen(RETURNED)) == 0)
        return (gbx_swept){.how = GBX_SWEPT_RETURNED,
                           .value = strtol(note + strlen(RETURNED), NULL, 10)};
    if (outcome == GBX_ATTACK_DIED)
        return (gbx_swept){.how = GBX_SWEPT_DIED, .value = detail};
    return (gbx_swept){.how = GBX_SWEPT_LOST};
}

bool gbx_sweep_is_unfiltered(unsigned number)
{
#if defined(__x86_64__)
    return number == NR_URETPROBE || number == NR_UPROBE;
#else
    return false;
#endif
}

gbx_swept gbx_sweep_expected(unsigned number)
{
    const gbx_rules *rules = &gbx_rules_worker;

    if (is_executed(rules, number))
        return executed(number);
    if (gbx_rules_need_clock() && is_executed(&gbx_rules_clock, number))
        return executed(number);
    for (size_t i = 0; i < rules->count; i++)
        if (rules->list[i].number == (int)number)
            return (gbx_swept){.how = GBX_SWEPT_RETURNED,
                               .value = -rules->list[i].error};
    return (gbx_swept){.how = GBX_SWEPT_KILLED};
}

bool gbx_sweep_print(FILE *to, const gbx_swept swept[GBX_SWEEP_COUNT])
{
    for (unsigned number = 0; number < GBX_SWEEP_COUNT; number++)
        if (swept[number].how == GBX_SWEPT_LOST)
            return false;
    (void)fputs(head, to);
    (void)fputs("## Executed\n\n", to);
    print_rules(to, &gbx_rules_worker, GBX_RULE_EXECUTE);
    (void)fputs("On a machine whose clock is not served by the vDSO, these too:\n\n",
                to);
    print_rules(to, &gbx_rules_clock, GBX_RULE_EXECUTE);
    (void)fputs("## Answered\n\n", to);
    print_rules(to, &gbx_rules_worker, GBX_RULE_ANSWER);
    (void)fputs("## Killed\n\n", to);
    print_killed(to, swept);
    (void)
        fputs("\n## The template\n\n"
              "The process that forks workers and parses datasets has a filter of its "
              "own, wider:\n\n",
              to);
    print_rules(to, &gbx_rules_template, GBX_RULE_EXECUTE);
    print_rules(to, &gbx_rules_template, GBX_RULE_ANSWER);
    return ferror(to) == 0;
}
