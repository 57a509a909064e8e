/* SPDX-License-Identifier: MIT */
/*
 * What hashing asks of the kernel once it is loaded: memory, and nothing else. Each
 * algorithm runs in a fork under a filter that is narrower than any worker's and kills
 * on the first other call: no file, no getrandom, no lock that is waited for.
 */
#include "crypto/crypto.h"
#include "sanitized.h"
#include "test.h"

#include <seccomp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Neither leaves a process with the calls of its own code alone. */
#if __has_include(<valgrind/valgrind.h>)
#    include <valgrind/valgrind.h>
#    define ON_VALGRIND (RUNNING_ON_VALGRIND != 0)
#else
#    define ON_VALGRIND 0
#endif

static const int memory_alone[] = {SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap),
                                   SCMP_SYS(mremap), SCMP_SYS(exit_group)};

static void allow_memory_alone(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);

    if (filter == NULL)
        _exit(10);
    for (size_t i = 0; i < sizeof memory_alone / sizeof memory_alone[0]; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, memory_alone[i], 0) != 0)
            _exit(11);
    if (seccomp_load(filter) != 0)
        _exit(12);
}

/* Returns the wait status of a child that did it. */
static int in_child(void (*what)(size_t argument), size_t argument)
{
    pid_t pid;
    int status = -1;

    if (ON_VALGRIND || IS_SANITIZED) {
        print_message(
            "skipped: sanitizers and valgrind ask for more than is allowed\n");
        skip();
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        allow_memory_alone();
        what(argument);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void fill(gbx_hash *hash)
{
    static uint8_t block[65536];

    for (int i = 0; i < 100; i++)
        gbx_hash_update(hash, block, sizeof block - (size_t)i);
}

static void do_hash(size_t algorithm)
{
    gbx_hash *hash = gbx_hash_new(algorithm, gbx_hash_algorithms[algorithm].len);
    gbx_hash *copy;
    uint8_t value[64];

    fill(hash);
    copy = gbx_hash_copy(hash);
    gbx_hash_value(hash, value);
    gbx_hash_value(copy, value);
    gbx_hash_free(copy);
    gbx_hash_free(hash);
}

TEST(hash__of_every_algorithm_needs_memory_alone)
{
    for (size_t i = 0; i < GBX_HASH_COUNT; i++)
        assert_int_equal(in_child(do_hash, i), 0);
}

static void do_mac(size_t algorithm)
{
    static const uint8_t key[65536];
    gbx_hash *hash = gbx_hash_new_mac(algorithm, key, sizeof key);
    uint8_t value[64];

    fill(hash);
    gbx_hash_value(hash, value);
    gbx_hash_free(hash);
}

TEST(mac__of_every_algorithm_needs_memory_alone)
{
    for (size_t i = 0; i < GBX_HASH_COUNT; i++)
        if (!gbx_hash_algorithms[i].is_free)
            assert_int_equal(in_child(do_mac, i), 0);
}

static void do_random(size_t size)
{
    uint8_t key[GBX_CRYPTO_SEED_SIZE] = {1};
    uint8_t *bytes = malloc(size);

    gbx_crypto_seed(key);
    for (int i = 0; i < 100; i++)
        if (bytes == NULL || !gbx_crypto_random(bytes, size))
            _exit(13);
    free(bytes);
}

TEST(random__needs_memory_alone)
{
    assert_int_equal(in_child(do_random, 1000), 0);
    assert_int_equal(in_child(do_random, 1 << 20), 0);
}

static void do_many(size_t count)
{
    gbx_hash **all = calloc(count, sizeof *all);

    for (size_t i = 0; all != NULL && i < count; i++)
        all[i] = gbx_hash_new(i % GBX_HASH_COUNT,
                              gbx_hash_algorithms[i % GBX_HASH_COUNT].len);
    for (size_t i = 0; all != NULL && i < count; i++)
        gbx_hash_free(all[i]);
    free(all);
}

TEST(hash__in_great_number_needs_memory_alone)
{
    assert_int_equal(in_child(do_many, 100000), 0);
}

/* The filter sees what it is there for. */
static void do_getrandom(size_t size)
{
    (void)!getentropy(&size, sizeof size);
}

TEST(filter__kills_who_asks_for_more)
{
    int status;

    status = in_child(do_getrandom, 0);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
}

int main(void)
{
    if (gbx_hash_load() != NULL)
        return 1;
    return tests_run(NULL, NULL);
}
