/* SPDX-License-Identifier: MIT */
/*
 * test_attacks - assume breach: every attack of the table, from inside a process of the
 * real worker program, against the whole seal, against each layer alone, and against
 * the seal without each layer. `test_attacks nobody` does it as an ordinary user, since
 * what the host of one can build is another seal; only root can.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "proc.h"
#include "test.h"
#include "until.h"
#include "worker/attack_table.h"
#include "worker/worker.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL_LAYERS  ((1u << GBX_LAYER_COUNT) - 1)
#define ATTACKS_MAX 256
#define NOBODY      65534

/* Layers that stop no attack by themselves, and what shows that they are there. */
#define WITHOUT_ATTACK                                                          \
    (GBX_LAYER_BIT(GBX_LAYER_NO_NEW_PRIVS) | /* seccomp and landlock need it */ \
     GBX_LAYER_BIT(GBX_LAYER_DEATH_SIGNAL) | /* see test_seal.c */              \
     GBX_LAYER_BIT(GBX_LAYER_CGROUP))        /* set from outside, if at all */

typedef struct column {
    uint32_t standing; /* layers that stand; 0: no template could be had so */
    gbx_attack_outcome outcomes[ATTACKS_MAX];
    char notes[ATTACKS_MAX][GBX_ATTACK_NOTE_SIZE];
} column;

typedef struct matrix {
    gbx_attack_victims victims;
    column none;
    column all;
    column executed; /* the same, of a template that is not the fork of a zygote */
    column alone[GBX_LAYER_COUNT];
    column missing[GBX_LAYER_COUNT];
} matrix;

/* ---- running ----------------------------------------------------------------------- */

/* Try the attacks that one of these layers should stop. */
static void run(column *c, uint32_t layers_off, uint32_t layers)
{
    gbx_attack_session *session = NULL;
    gbx_error error = {0};

    if (gbx_attack_open(NULL, GBX_JIT_FULL, layers_off, &session, &error) != GBX_OK) {
        print_message("without layers %x: %s\n", layers_off, error.message);
        return;
    }
    c->standing = gbx_attack_layers(session) | 1u << 31;
    for (uint32_t i = 0; i < gbx_attack_count(); i++) {
        int detail;

        if ((gbx_attack_info_get(i)->layers & layers) == 0)
            continue;
        c->outcomes[i] = gbx_attack_try(session, i, &detail);
        (void)snprintf(c->notes[i], sizeof c->notes[i], "%s", gbx_attack_note(session));
    }
    gbx_attack_close(session);
}

/* Is a template that is made now the fork of a zygote? */
static bool is_forked(void *user)
{
    gbx_attack_session *session = NULL;
    gbx_error error = {0};
    bool is_fork;

    if (gbx_attack_open(NULL, GBX_JIT_FULL, 0, &session, &error) != GBX_OK)
        return false;
    is_fork = proc_is_fork(proc_template());
    gbx_attack_close(session);
    return is_fork;
}

static bool has_layer(const column *c, size_t layer)
{
    return (c->standing & GBX_LAYER_BIT(layer)) != 0;
}

static bool is_stopped(const column *c, size_t attack)
{
    return c->outcomes[attack] != GBX_ATTACK_SUCCEEDED &&
           c->outcomes[attack] != GBX_ATTACK_UNKNOWN;
}

/* It succeeds here when nothing is in its way: the others have something to show. */
static bool is_real(const matrix *m, size_t attack)
{
    return m->none.outcomes[attack] == GBX_ATTACK_SUCCEEDED;
}

static void demand(const column *c, size_t attack, const char *where)
{
    if (!is_stopped(c, attack))
        fail_msg("%s '%s' (%s): %s", gbx_attack_info_get(attack)->id,
                 gbx_attack_info_get(attack)->name, c->notes[attack], where);
}

static int start(void **state)
{
    matrix *m = calloc(1, sizeof *m);

    if (m == NULL)
        return -1;
    gbx_attack_victims_open(&m->victims);
    run(&m->none, ALL_LAYERS, ALL_LAYERS);
    if (!until(is_forked, NULL, 60000))
        return -1;
    run(&m->all, 0, ALL_LAYERS);
    gbx_zygote_end();
    run(&m->executed, 0, ALL_LAYERS);
    for (size_t layer = 0; layer < GBX_LAYER_COUNT; layer++) {
        run(&m->alone[layer],
            ALL_LAYERS & ~(GBX_LAYER_BIT(layer) | gbx_attack_companion(layer)),
            GBX_LAYER_BIT(layer));
        run(&m->missing[layer], GBX_LAYER_BIT(layer), ALL_LAYERS);
    }
    *state = m;
    return 0;
}

static int stop(void **state)
{
    matrix *m = *state;

    gbx_attack_victims_close(&m->victims);
    free(m);
    return 0;
}

/* ---- tests --------------------------------------------------------------------------- */

TEST(table__has_at_least_sixty_attacks)
{
    assert_in_range(gbx_attack_count(), 60, ATTACKS_MAX);
}

TEST(table__names_two_layers_or_says_why_not)
{
    for (size_t i = 0; i < gbx_attack_count(); i++) {
        const gbx_attack_info *info = gbx_attack_info_get(i);

        if (__builtin_popcount(info->layers) < 2 && *info->note == 0)
            fail_msg("%s '%s' has one layer and no reason", info->id, info->name);
        assert_true(info->layers != 0);
    }
}

TEST(seal__stops_every_attack)
{
    const matrix *m = *state;

    assert_true(m->all.standing != 0);
    for (size_t i = 0; i < gbx_attack_count(); i++) {
        demand(&m->all, i, "not stopped by the whole seal");
        demand(&m->executed, i,
               "not stopped by the whole seal of an executed template");
    }
}

TEST(seal__has_something_to_stop)
{
    const matrix *m = *state;
    size_t real = 0;

    for (size_t i = 0; i < gbx_attack_count(); i++)
        real += is_real(m, i);
    print_message("%zu of %zu attacks succeed without any layer\n", real,
                  gbx_attack_count());

    assert_in_range(real, 60, ATTACKS_MAX);
}

TEST(layer__alone_stops_what_the_table_says)
{
    const matrix *m = *state;

    for (size_t layer = 0; layer < GBX_LAYER_COUNT; layer++)
        for (size_t i = 0; i < gbx_attack_count(); i++)
            if (has_layer(&m->alone[layer], layer) &&
                (gbx_attack_info_get(i)->layers & GBX_LAYER_BIT(layer)))
                demand(&m->alone[layer], i, "not stopped by a layer that should");
}

TEST(seal__holds_without_any_one_layer)
{
    const matrix *m = *state;

    for (size_t layer = 0; layer < GBX_LAYER_COUNT; layer++)
        for (size_t i = 0; i < gbx_attack_count(); i++)
            if (gbx_attack_info_get(i)->layers & m->missing[layer].standing)
                demand(&m->missing[layer], i, "not stopped once a layer is gone");
}

static bool has_name_of_its_own(void)
{
    struct utsname names;

    assert_int_equal(uname(&names), 0);
    return strcmp(names.nodename, "glovebox") != 0;
}

/* Take a layer away and these tests fail: for each there is an attack that succeeds
 * without layers and that it stops alone. */
TEST(layer__each_stops_an_attack)
{
    const matrix *m = *state;

    for (size_t layer = 0; layer < GBX_LAYER_COUNT; layer++) {
        bool stops = false;

        if ((WITHOUT_ATTACK & GBX_LAYER_BIT(layer)) ||
            !has_layer(&m->alone[layer], layer))
            continue;
        for (size_t i = 0; i < gbx_attack_count(); i++)
            stops = stops ||
                    ((gbx_attack_info_get(i)->layers & GBX_LAYER_BIT(layer)) != 0 &&
                     is_real(m, i) && is_stopped(&m->alone[layer], i));
        /* A host of that name, too, has nothing to hide. */
        if (layer == GBX_LAYER_UTS_NS && !has_name_of_its_own())
            continue;
        /* What takes privileges shows only where there are some. */
        if (layer == GBX_LAYER_NO_CAPS && geteuid() != 0)
            continue;
        if (!stops)
            fail_msg("layer %zu stops nothing", layer);
    }
}

/* No layer of which the template says that it stands may be left out in silence. */
TEST(layers__left_out_are_reported)
{
    const matrix *m = *state;

    for (size_t layer = 0; layer < GBX_LAYER_COUNT; layer++)
        assert_false(has_layer(&m->missing[layer], layer));
}

TEST(layers__required_ones_stand)
{
    static const uint32_t required = 0
#define XX(name, text, is_required, what) \
    | (is_required ? GBX_LAYER_BIT(GBX_LAYER_##name) : 0)
        GBX_LAYER_MAP(XX)
#undef XX
        ;
    const matrix *m = *state;

    assert_int_equal(m->all.standing & required, required);
    assert_int_equal(m->executed.standing, m->all.standing);
}

/* ---- what this machine could have ---------------------------------------------------- */

#define LANDLOCK_VERSION 1u

/* In a child: the answer of a call that changes the process. */
static bool can(int (*attempt)(void))
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(attempt());
    (void)waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int make_namespaces(void)
{
    return unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET |
                   CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) == 0
               ? 0
               : 1;
}

static int refuse_new_code(void)
{
    return prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) == 0 ? 0 : 1;
}

static int has_landlock(void)
{
    return syscall(444 /* landlock_create_ruleset */, NULL, 0, LANDLOCK_VERSION) > 0
               ? 0
               : 1;
}

/* A layer that the kernel has and the template does not report is one that was lost. */
TEST(layers__stand_where_the_kernel_has_them)
{
    const matrix *m = *state;

    for (size_t layer = GBX_LAYER_USER_NS; layer <= GBX_LAYER_CGROUP_NS; layer++)
        assert_true(has_layer(&m->all, layer) || !can(make_namespaces));
    assert_true(has_layer(&m->all, GBX_LAYER_MDWE) || !can(refuse_new_code));
    assert_true(has_layer(&m->all, GBX_LAYER_LANDLOCK) || !can(has_landlock));
}

/* ---- as two users ----------------------------------------------------------------------- */

/* The worker program where anybody can execute it. */
static bool copy_worker(char *dir, char *path, size_t size)
{
    const char *from = getenv("GLOVEBOX_WORKER");
    GBX_CLEANUP(gbx_fd_close) int in = -1;
    GBX_CLEANUP(gbx_fd_close) int out = -1;
    struct stat info;

    if (from == NULL || mkdtemp(dir) == NULL || chmod(dir, 0755) < 0)
        return false;
    (void)snprintf(path, size, "%s/glovebox-worker", dir);
    in = open(from, O_RDONLY | O_CLOEXEC);
    out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    return in >= 0 && out >= 0 && fstat(in, &info) == 0 &&
           sendfile(out, in, NULL, (size_t)info.st_size) == info.st_size &&
           fchmod(out, 0755) == 0;
}

static int run_as_nobody(void)
{
    char dir[] = "/tmp/glovebox-test-XXXXXX";
    char path[64] = "";
    int status = -1;
    pid_t pid;

    if (!copy_worker(dir, path, sizeof path)) {
        print_error("cannot copy the worker program to /tmp\n");
        return 1;
    }
    pid = fork();
    if (pid == 0) {
        if (setenv("GLOVEBOX_WORKER", path, 1) < 0 || setgroups(0, NULL) < 0 ||
            setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
            setresuid(NOBODY, NOBODY, NOBODY) < 0 || chdir("/") < 0)
            _exit(99);
        exit(tests_run(start, stop));
    }
    (void)waitpid(pid, &status, 0);
    (void)unlink(path);
    (void)rmdir(dir);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "nobody") != 0)
        return tests_run(start, stop);
    if (geteuid() != 0) {
        print_message("only root can become nobody\n");
        return 77;
    }
    return run_as_nobody();
}
