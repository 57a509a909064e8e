/* SPDX-License-Identifier: MIT */
/*
 * test_seal - the filters say what the tables say, for every number, architecture and
 * class of arguments; every instruction of them has a case that runs it. What the
 * kernel makes of it all is shown by the escape tests.
 */
#include "base/cleanup.h"
#include "seal/internal.h"
#include "support/bpf_eval.h"
#include "test.h"

#include <linux/audit.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#    define NATIVE  AUDIT_ARCH_X86_64
#    define FOREIGN AUDIT_ARCH_I386
#    define X32_BIT 0x40000000u
#elif defined(__aarch64__)
#    define NATIVE  AUDIT_ARCH_AARCH64
#    define FOREIGN AUDIT_ARCH_ARM
#    define X32_BIT 0x40000000u
#endif

/* It has no seccomp(2), and its own memory is in the way of limits and reservations. */
#if __has_include(<valgrind/valgrind.h>)
#    include <valgrind/valgrind.h>
#    define ON_VALGRIND (RUNNING_ON_VALGRIND != 0)
#else
#    define ON_VALGRIND 0
#endif

#define NUMBERS_TRIED 1200
#define PROBES        7

/* ---- what the table says, read a second time -------------------------------- */

static bool matches(const gbx_rule *rule, const struct seccomp_data *data)
{
    if (rule->number != data->nr)
        return false;
    for (size_t i = 0; i < GBX_RULE_ARGS_MAX; i++) {
        const gbx_rule_arg *arg = &rule->args[i];
        bool equal = (data->args[arg->index] & arg->mask) == arg->value;

        if (arg->mask != 0 && equal == arg->differs)
            return false;
    }
    return true;
}

static uint32_t verdict_of(const gbx_rule *rule)
{
    return rule->class_ == GBX_RULE_EXECUTE ? SECCOMP_RET_ALLOW
                                            : SECCOMP_RET_ERRNO | (uint32_t)rule->error;
}

/* A filter's tables; the second may be missing. */
typedef const gbx_rules *tables[2];

static uint32_t expected(const tables t, const struct seccomp_data *data)
{
    if (data->arch != NATIVE)
        return SECCOMP_RET_KILL_PROCESS;
    for (size_t i = 0; i < 2 && t[i] != NULL; i++)
        for (size_t k = 0; k < t[i]->count; k++)
            if (matches(&t[i]->list[k], data))
                return verdict_of(&t[i]->list[k]);
    return SECCOMP_RET_KILL_PROCESS;
}

/* ---- inputs ------------------------------------------------------------------- */

static void check(gbx_bpf *bpf, const tables t, const struct seccomp_data *data)
{
    uint32_t found = gbx_bpf_run(bpf, data);

    if (found != expected(t, data))
        fail_msg("call %d, arch %x, args %llx %llx %llx %llx %llx: %x, not %x",
                 data->nr, data->arch, data->args[0], data->args[1], data->args[2],
                 data->args[3], data->args[4], found, expected(t, data));
}

/* One argument with what a test wants of it, and then with what it does not: one bit
 * off in either half, all bits, none. */
static void vary(gbx_bpf *bpf, const tables t, struct seccomp_data data, uint8_t index)
{
    const uint64_t right = data.args[index];
    const uint64_t values[PROBES] = {right,      right ^ 1,
                                     right ^ 4,  right ^ UINT64_C(1) << 32,
                                     UINT64_MAX, right ^ UINT64_C(1) << 63,
                                     0};

    for (size_t i = 0; i < PROBES; i++) {
        data.args[index] = values[i];
        check(bpf, t, &data);
    }
}

static void try_rule(gbx_bpf *bpf, const tables t, const gbx_rule *rule, uint32_t arch)
{
    struct seccomp_data data = {.nr = rule->number, .arch = arch};

    for (size_t i = 0; i < GBX_RULE_ARGS_MAX; i++)
        if (rule->args[i].mask != 0)
            data.args[rule->args[i].index] = rule->args[i].value;
    check(bpf, t, &data);
    for (uint8_t i = 0; i < 6; i++)
        vary(bpf, t, data, i);
}

static void try_numbers(gbx_bpf *bpf, const tables t, uint32_t arch, uint32_t bits)
{
    for (int number = -2; number < NUMBERS_TRIED; number++) {
        struct seccomp_data data = {.nr = (int)((uint32_t)number | bits), .arch = arch};

        check(bpf, t, &data);
        memset(data.args, 0xff, sizeof data.args);
        check(bpf, t, &data);
    }
}

static void try_all(const gbx_filter *filter, const tables t)
{
    bool visited[BPF_MAXINSNS] = {false};
    gbx_bpf bpf = {.code = filter->code, .len = filter->len, .visited = visited};
    static const uint32_t archs[] = {NATIVE, FOREIGN, 0, UINT32_MAX};

    for (size_t i = 0; i < GBX_COUNTOF(archs); i++) {
        try_numbers(&bpf, t, archs[i], 0);
        try_numbers(&bpf, t, archs[i], X32_BIT);
        try_numbers(&bpf, t, archs[i], 0x80000000u);
        for (size_t k = 0; k < 2 && t[k] != NULL; k++)
            for (size_t n = 0; n < t[k]->count; n++)
                try_rule(&bpf, t, &t[k]->list[n], archs[i]);
    }
    for (size_t i = 0; i < filter->len; i++)
        if (!visited[i])
            fail_msg("instruction %zu of %u is never reached", i, filter->len);
}

/* ---- filters -------------------------------------------------------------------- */

TEST(filter__of_a_worker_is_its_table)
{
    gbx_seal seal = {.statm_fd = -1};
    tables t = {&gbx_rules_worker};

    if (ON_VALGRIND) {
        print_message("skipped: valgrind knows no seccomp\n");
        skip();
    }
    gbx_seccomp_compile(&seal);
    if (gbx_rules_need_clock())
        t[1] = &gbx_rules_clock;

    assert_non_null(seal.worker_filter.code);
    try_all(&seal.worker_filter, t);
    gbx_fd_close(&seal.statm_fd);
}

TEST(filter__of_a_template_is_its_table)
{
    gbx_seal seal = {.statm_fd = -1};
    tables t = {&gbx_rules_template};

    if (ON_VALGRIND) {
        print_message("skipped: valgrind knows no seccomp\n");
        skip();
    }
    gbx_seccomp_compile(&seal);

    assert_non_null(seal.template_filter.code);
    try_all(&seal.template_filter, t);
    gbx_fd_close(&seal.statm_fd);
}

/* In a child: the limit is of the process, and the signal is the end of it. */
TEST(filter__is_whole_where_no_file_may_be_written)
{
    gbx_seal usual = {.statm_fd = -1};
    struct rlimit limits[] = {{0, 0}, {100, 100}};

    if (ON_VALGRIND) {
        print_message("skipped: valgrind knows no seccomp\n");
        skip();
    }
    gbx_seccomp_compile(&usual);
    for (size_t i = 0; i < GBX_COUNTOF(limits); i++) {
        int status = 0;
        pid_t pid = fork();

        if (pid == 0) {
            gbx_seal seal = {.statm_fd = -1};
            bool limited = setrlimit(RLIMIT_FSIZE, &limits[i]) == 0;

            gbx_seccomp_compile(&seal);
            _exit(limited && seal.worker_filter.len == usual.worker_filter.len &&
                          seal.template_filter.len == usual.template_filter.len
                      ? 0
                      : 1);
        }

        assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
        assert_int_equal(status, 0);
    }
    gbx_fd_close(&usual.statm_fd);
}

TEST(filter__is_not_compiled_when_left_out)
{
    gbx_seal seal = {.layers_off = GBX_LAYER_BIT(GBX_LAYER_SECCOMP), .statm_fd = -1};

    gbx_seccomp_compile(&seal);

    assert_null(seal.worker_filter.code);
    assert_false(seal.layers[GBX_LAYER_SECCOMP].stands);
    assert_string_equal(seal.layers[GBX_LAYER_SECCOMP].reason, "left out on request");
    gbx_fd_close(&seal.statm_fd);
}

/* ---- tables --------------------------------------------------------------------- */

static bool is_tested(const gbx_rule *rule, uint8_t index)
{
    for (size_t i = 0; i < GBX_RULE_ARGS_MAX; i++)
        if (rule->args[i].mask != 0 && rule->args[i].index == index)
            return true;
    return false;
}

TEST(table__executes_six_lines_and_checks_their_arguments)
{
    const gbx_rule *rules = gbx_rules_worker.list;
    size_t executed = 0;

    for (size_t i = 0; i < gbx_rules_worker.count; i++) {
        if (rules[i].class_ != GBX_RULE_EXECUTE)
            continue;
        executed++;
        if (rules[i].number == SYS_read || rules[i].number == SYS_write)
            assert_true(is_tested(&rules[i], 0));
        if (rules[i].number == SYS_mmap || rules[i].number == SYS_mprotect)
            assert_true(is_tested(&rules[i], 2));
        if (rules[i].number == SYS_mmap)
            assert_true(is_tested(&rules[i], 3) && is_tested(&rules[i], 4));
    }

    assert_int_equal(executed, 6);
}

TEST(table__gives_a_reason_a_line)
{
    for (size_t i = 0; i < gbx_rules_worker.count; i++)
        assert_true(strlen(gbx_rules_worker.list[i].reason) > 0);
    for (size_t i = 0; i < gbx_rules_template.count; i++)
        assert_true(strlen(gbx_rules_template.list[i].reason) > 0);
}

/* brk answered with an error would be taken for a break; see the table. */
TEST(table__answers_brk_with_success)
{
    const gbx_rule *rules = gbx_rules_worker.list;

    for (size_t i = 0; i < gbx_rules_worker.count; i++)
        if (rules[i].number == SYS_brk)
            assert_true(rules[i].class_ == GBX_RULE_ANSWER && rules[i].error == 0);
}

TEST(table__of_the_template_gains_nothing)
{
    static const int never[] = {SYS_execve,  SYS_execveat, SYS_socket,
                                SYS_connect, SYS_bind,     SYS_ptrace,
                                SYS_mount,   SYS_unshare,  SYS_setns,
                                SYS_bpf,     SYS_setuid,   SYS_process_vm_readv};
    const gbx_rule *rules = gbx_rules_template.list;

    for (size_t i = 0; i < gbx_rules_template.count; i++)
        for (size_t k = 0; k < GBX_COUNTOF(never); k++)
            assert_int_not_equal(rules[i].number, never[k]);
}

/* ---- identity ------------------------------------------------------------------- */

TEST(user__is_described_as_what_it_is)
{
    static const struct {
        gbx_identity identity;
        const char *described;
    } rows[] = {
        {{.wanted = {61184, 65534}, .uid = 61184}, "61184, of no other process"},
        {{.wanted = {12345}, .uid = 12345}, "12345, as configured"},
        {{.wanted = {61184, 65534}, .uid = 65534}, "nobody, whose processes may be "},
        {{.wanted = {65534, 65534}, .uid = 65534}, "nobody, whose processes may be "},
        {{.wanted = {61184, 65534}}, "root without capabilities: "},
        {{.hosts_uid = 1000}, "1000, the host's own"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_seal seal = {.identity = rows[i].identity};

        gbx_identity_describe_user(&seal);
        assert_memory_equal(seal.user, rows[i].described, strlen(rows[i].described));
    }
}

TEST(layout__is_described_as_what_it_is)
{
    gbx_seal seal = {0};
    int bits = personality(0xffffffff);

    if (bits < 0 || personality((unsigned)bits | ADDR_NO_RANDOMIZE) < 0) {
        print_message("skipped: no personality to be had\n");
        skip();
    }
    gbx_identity_describe_layout(&seal);
    (void)personality((unsigned)bits);
    assert_memory_equal(seal.layout, "fixed: the host was started without", 35);
}

/* A kernel with these states of speculation, by PR_SPEC_*; -1: it knows nothing of one. */
static struct {
    bool is_there;
    int states[2];
} kernel;

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);

int __wrap_prctl(int option, ...)
{
    unsigned long given[4];
    va_list args;
    int *state;

    va_start(args, option);
    for (size_t i = 0; i < GBX_COUNTOF(given); i++)
        given[i] = va_arg(args, unsigned long);
    va_end(args);
    if (!kernel.is_there)
        return __real_prctl(option, given[0], given[1], given[2], given[3]);
    assert_true(given[0] < 2); /* store bypass, indirect branches */
    state = &kernel.states[given[0]];
    if (option == PR_GET_SPECULATION_CTRL)
        return *state;
    assert_int_equal(option, PR_SET_SPECULATION_CTRL);
    if (*state < 0 || (*state & PR_SPEC_PRCTL) == 0)
        return -1;
    *state = PR_SPEC_PRCTL | (int)given[1];
    return 0;
}

TEST(speculation__is_off_where_that_is_asked_for_or_said_not_to_be)
{
    enum { ON = PR_SPEC_PRCTL | PR_SPEC_ENABLE, FIXED = PR_SPEC_ENABLE };
    static const struct {
        int states[2];
        bool is_asked;
        bool is_had;
        const char *described;
    } rows[] = {
        {{ON, ON}, false, true, "store bypass on, indirect branches on"},
        {{ON, ON}, true, true, "store bypass off, indirect branches off"},
        {{PR_SPEC_NOT_AFFECTED, ON},
         true,
         true,
         "store bypass not affected, indirect branches off"},
        {{ON, FIXED},
         true,
         false,
         "store bypass off, indirect branches on, not controllable here"},
        {{-1, ON},
         true,
         false,
         "store bypass not controlled by this kernel, indirect branches off"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_seal seal = {0};
        bool is_had;

        memcpy(kernel.states, rows[i].states, sizeof kernel.states);
        kernel.is_there = true;
        is_had = gbx_identity_guard_speculation(&seal, rows[i].is_asked);
        kernel.is_there = false;
        assert_string_equal(seal.speculation, rows[i].described);
        assert_int_equal(is_had, rows[i].is_had);
    }
}

TEST_MAIN(NULL, NULL)
