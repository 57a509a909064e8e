/* SPDX-License-Identifier: MIT */
/*
 * file_race - others exchange names against links to an outside file, as fast as they
 * can, while code in the box reads them. What it gets is the file inside, or a refusal.
 *
 * GLOVEBOX_ROUNDS says how often each path is read; `make race` says a million.
 */
#include "file_tree.h"
#include "scratch.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 20000

static atomic_bool is_over;

/* Two names that change places, below TOP. */
typedef struct flip {
    const char *name; /* of the test */
    const char *one;
    const char *other;
    const char *read; /* by code in the box */
} flip;

static const flip flips[] = {
    {"a file and a link to a file outside", "data/file", "data/file-link", "file"},
    {"a folder and a link to a folder outside", "data/folder", "data/folder-link",
     "folder/secret.txt"},
    {"a folder that is moved outside while '..' is walked", "data/walk/sub",
     "outside/sub", "walk/sub/../secret.txt"},
    {"a file and a FIFO", "data/file", "data/fifo", "file"},
    {"a file and a device", "data/file", "data/zero", "file"},
};

static void *exchange(void *arg)
{
    const flip *f = arg;
    char one[256];
    char other[256];

    (void)snprintf(one, sizeof one, "%s/%s", scratch, f->one);
    (void)snprintf(other, sizeof other, "%s/%s", scratch, f->other);
    while (!atomic_load(&is_over))
        (void)renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
    return NULL;
}

/* data/walk/sub goes out and comes back: there is nothing to exchange it with. */
static void *move_out_and_in(void *arg)
{
    const flip *f = arg;
    char one[256];
    char other[256];

    (void)snprintf(one, sizeof one, "%s/%s", scratch, f->one);
    (void)snprintf(other, sizeof other, "%s/%s", scratch, f->other);
    while (!atomic_load(&is_over)) {
        (void)rename(one, other);
        (void)rename(other, one);
    }
    return NULL;
}

static size_t rounds(void)
{
    const char *text = getenv("GLOVEBOX_ROUNDS");

    return text != NULL ? strtoul(text, NULL, 10) : ROUNDS;
}

/* One read; true if it was the file inside. Anything but that and a refusal fails. */
static bool is_inside(const flip *f)
{
    gbx_msg_answer answer = {0};
    gbx_buf bytes;
    bool inside;

    tree_read(tree_listing, f->read, &bytes, &answer);
    inside = answer.is_error == 0;
    assert_null(memmem(bytes.data, bytes.len, TREE_CANARY, strlen(TREE_CANARY)));
    if (inside)
        assert_true(answer.bytes.len == 6 &&
                    memcmp(answer.bytes.data, "inside", 6) == 0);
    gbx_buf_cleanup(&bytes);
    return inside;
}

static void race(void **state)
{
    const flip *f = *state;
    size_t inside = 0;
    size_t refused = 0;
    size_t least = rounds();
    pthread_t thread;
    struct stat st;

    if (stat(scratch_path(f->one), &st) != 0 ||
        (strcmp(f->other, "data/zero") == 0 &&
         stat(scratch_path(f->other), &st) != 0)) {
        print_message("skipped: devices cannot be made here\n");
        skip();
    }
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL,
                                    strncmp(f->other, "outside/", 8) == 0
                                        ? move_out_and_in
                                        : exchange,
                                    (void *)(uintptr_t)f),
                     0);
    /* The race is on only if both were seen; on one processor that takes its time. */
    while (inside + refused < least || inside == 0 || refused == 0) {
        if (is_inside(f))
            inside++;
        else
            refused++;
        if ((inside + refused) % 64 == 0)
            (void)sched_yield();
    }
    atomic_store(&is_over, true);
    (void)pthread_join(thread, NULL);
}

static int set_up(void **state)
{
    (void)tree_begin(state);
    scratch_put("data/file", "inside", 6);
    assert_int_equal(symlink("../outside/secret.txt", scratch_path("data/file-link")),
                     0);
    assert_int_equal(mkdir(scratch_path("data/folder"), 0755), 0);
    scratch_put("data/folder/secret.txt", "inside", 6);
    assert_int_equal(symlink("../outside", scratch_path("data/folder-link")), 0);
    assert_int_equal(mkdir(scratch_path("data/walk"), 0755), 0);
    assert_int_equal(mkdir(scratch_path("data/walk/sub"), 0755), 0);
    scratch_put("data/walk/secret.txt", "inside", 6);
    return 0;
}

/* Which of the two names holds the file is left to chance by the race before. */
static int put_back(void **state)
{
    tree_end(state);
    return set_up(state);
}

int main(void)
{
    static struct CMUnitTest tests[GBX_COUNTOF(flips)];
    static const flip *states[GBX_COUNTOF(flips)];

    if (!tree_can_be_read())
        return 77;
    for (size_t i = 0; i < GBX_COUNTOF(flips); i++) {
        states[i] = &flips[i];
        tests[i] = (struct CMUnitTest){.name = flips[i].name,
                                       .test_func = race,
                                       .teardown_func = put_back};
        memcpy(&tests[i].initial_state, &states[i], sizeof states[i]);
    }
    return _cmocka_run_group_tests("file_race", tests, GBX_COUNTOF(tests), set_up,
                                   tree_end);
}
