/* SPDX-License-Identifier: MIT */
/*
 * seccomp - compiles the tables into filters, once; a filter is installed as bytes.
 *
 * libseccomp adds two checks that are easily forgotten: of the architecture, and of
 * numbers of the x32 ABI. Both kill. The binary tree matters because the kernel runs a
 * new filter for every number, to learn which are always allowed. The template's
 * filter, installed first, leaves few numbers to try.
 */
#include "base/cleanup.h"
#include "base/fail.h"
#include "seal/internal.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPTIMIZE_TREE 2

static void release(scmp_filter_ctx *ctx)
{
    if (*ctx != NULL)
        seccomp_release(*ctx);
}

static int add_rules(scmp_filter_ctx ctx, const gbx_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        const gbx_rule *rule = &rules->list[i];
        uint32_t action = rule->class_ == GBX_RULE_EXECUTE
                              ? SCMP_ACT_ALLOW
                              : SCMP_ACT_ERRNO((uint32_t)rule->error);
        struct scmp_arg_cmp tests[GBX_RULE_ARGS_MAX];
        unsigned n = 0;
        int e;

        for (size_t k = 0; k < GBX_RULE_ARGS_MAX; k++) {
            const gbx_rule_arg *arg = &rule->args[k];

            if (arg->mask != 0)
                tests[n++] =
                    (struct scmp_arg_cmp){.arg = arg->index,
                                          .op = arg->differs ? SCMP_CMP_NE
                                                             : SCMP_CMP_MASKED_EQ,
                                          .datum_a =
                                              arg->differs ? arg->value : arg->mask,
                                          .datum_b = arg->differs ? 0 : arg->value};
        }
        if (rule->number < 0)
            continue;
        e = seccomp_rule_add_exact_array(ctx, action, rule->number, n, tests);
        if (e != 0)
            return e;
    }
    return 0;
}

/* The library can only write a program to a descriptor, and does not notice a
 * partial write. A message on a socket arrives completely or not at all; a file ends
 * at RLIMIT_FSIZE, which also kills the writer. Returns a negative errno. */
static int export_code(scmp_filter_ctx ctx, gbx_filter *ret)
{
    const size_t max = BPF_MAXINSNS * sizeof *ret->code;
    GBX_CLEANUP(gbx_fd_close) int from = -1;
    GBX_CLEANUP(gbx_fd_close) int to = -1;
    gbx_filter filter = {0};
    ssize_t size;
    int pair[2];
    int e;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -errno;
    from = pair[0];
    to = pair[1];
    e = seccomp_export_bpf(ctx, to);
    if (e != 0)
        return e;
    filter.code = malloc(max);
    if (filter.code == NULL)
        return -ENOMEM;
    size = recv(from, filter.code, max, MSG_TRUNC);
    if (size <= 0 || (size_t)size > max) {
        free(filter.code);
        return size < 0 ? -errno : -EINVAL;
    }
    filter.len = (unsigned short)((size_t)size / sizeof *filter.code);
    *ret = filter;
    return 0;
}

static int compile(const gbx_rules *const *tables, size_t count, gbx_filter *ret)
{
    GBX_CLEANUP(release) scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int e;

    if (ctx == NULL)
        return -ENOMEM;
    e = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    /* Older libraries have no tree: the filter is longer but equivalent. */
    if (e == 0)
        (void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, OPTIMIZE_TREE);
    for (size_t i = 0; e == 0 && i < count; i++)
        e = add_rules(ctx, tables[i]);
    return e != 0 ? e : export_code(ctx, ret);
}

static bool install(const gbx_filter *filter)
{
    struct sock_fprog program = {.len = filter->len, .filter = filter->code};

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* True if the kernel has no filters, which libseccomp does not report. A kernel with
 * filters answers EFAULT to a NULL filter. */
static bool is_lacking(gbx_seal *seal)
{
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
    int error = errno;
    char reason[GBX_CALL_REASON_SIZE];

    if (result == 0 || error == EFAULT)
        return false;
    (void)gbx_fail_call_reason("seccomp", error, reason);
    gbx_layer_lacks(seal, GBX_LAYER_SECCOMP, "%s%s", reason,
                    error == EINVAL ? "; the kernel lacks CONFIG_SECCOMP_FILTER" : "");
    return true;
}

void gbx_seccomp_compile(gbx_seal *seal)
{
    static gbx_filter worker_filter, template_filter; /* shared by all seals */
    const gbx_rules *const worker[] = {&gbx_rules_worker, &gbx_rules_clock};
    const gbx_rules *const template[] = {&gbx_rules_template};
    int e;

    if (gbx_layer_is_off(seal, GBX_LAYER_SECCOMP) || is_lacking(seal))
        return;
    if (template_filter.code != NULL) {
        seal->worker_filter = worker_filter;
        seal->template_filter = template_filter;
        return;
    }
    e = compile(worker, gbx_rules_need_clock() ? 2 : 1, &seal->worker_filter);
    if (e == 0)
        e = compile(template, 1, &seal->template_filter);
    if (e != 0)
        gbx_layer_lacks(seal, GBX_LAYER_SECCOMP, "cannot compile the filter: %s",
                        strerror(-e));
    worker_filter = seal->worker_filter;
    template_filter = seal->template_filter;
}

void gbx_seccomp_template(gbx_seal *seal)
{
    if (gbx_layer_is_off(seal, GBX_LAYER_SECCOMP) || seal->template_filter.code == NULL)
        return;
    if (!install(&seal->template_filter))
        gbx_layer_lacks(seal, GBX_LAYER_SECCOMP, "the kernel refuses a filter: %s",
                        strerror(errno));
}

bool gbx_seccomp_worker(const gbx_seal *seal)
{
    if (seal->layers_off & GBX_LAYER_BIT(GBX_LAYER_SECCOMP))
        return true;
    return seal->worker_filter.code != NULL && install(&seal->worker_filter);
}
