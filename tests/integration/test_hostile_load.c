/* SPDX-License-Identifier: MIT */
/* A worker program that fails where it is given a dataset, or never says that it has it. */
#include "calls.h"
#include "proc.h"
#include "test.h"
#include "until.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(load__fails_with_the_reason_that_the_template_gives)
{
    gbx_options options = hostile_options("load-fails");
    gbx_engine *engine = engine_start(&options);
    gbx_error error = {0};

    assert_int_equal(gbx_engine_load(engine, "d", "[1]", 3, GBX_DATA_JSON, &error),
                     GBX_E_DATA);

    assert_non_null(strstr(error.message, "fit"));
    check_one_line(error.message);
    check_hostile_alive(engine);
    gbx_engine_free(engine);
}

TEST(load__fails_when_the_template_dies_of_it)
{
    gbx_options options = hostile_options("at-load=exit");
    gbx_engine *engine = engine_start(&options);
    gbx_error error = {0};

    assert_int_equal(gbx_engine_load(engine, "d", "[1]", 3, GBX_DATA_JSON, &error),
                     GBX_E_DATA);

    assert_true(
        until(is_hostile_alive, engine, 60000)); /* the next template has no dataset */
    gbx_engine_free(engine);
}

/* A large one in the place of another is loaded into a template beside the one that
 * serves. */
TEST(load__that_a_new_template_fails_leaves_what_was)
{
    static const struct {
        const char *plan;
        const char *message;
    } cases[] = {{"load-fails=100", "fit"},
                 {"load-exits=100", "the data does not fit"}};
    size_t size = 2 << 20;
    char *json = malloc(size);

    memset(json, ' ', size);
    json[0] = '1';
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbx_options options = hostile_options(cases[i].plan);
        gbx_engine *engine = engine_start(&options);
        gbx_error error = {0};

        assert_int_equal(gbx_engine_load(engine, "d", "[1]", 3, GBX_DATA_JSON, &error),
                         GBX_OK);
        assert_int_equal(gbx_engine_load(engine, "d", json, size, GBX_DATA_JSON,
                                         &error),
                         GBX_E_DATA);

        assert_non_null(strstr(error.message, "cannot load the dataset 'd': "));
        assert_non_null(strstr(error.message, cases[i].message));
        check_one_line(error.message);
        assert_int_equal(report_number(engine, "jsonBytes"), 3);
        check_hostile_alive(engine);
        assert_int_equal(gbx_engine_load(engine, "d", "[2]", 3, GBX_DATA_JSON, &error),
                         GBX_OK);
        gbx_engine_free(engine);
    }
    free(json);
}

typedef struct reload {
    gbx_engine *engine;
    gbx_status status;
} reload;

static void *load_large(void *user)
{
    reload *r = user;
    size_t size = 2 << 20;
    char *json = malloc(size);

    memset(json, ' ', size);
    json[0] = '1';
    r->status = gbx_engine_load(r->engine, "d", json, size, GBX_DATA_JSON, NULL);
    free(json);
    return NULL;
}

static pid_t template_beside(pid_t serving)
{
    proc_tree tree;

    proc_look(getpid(), &tree);
    for (size_t i = 0; i < tree.count; i++)
        if (tree.pids[i] != serving && proc_parent(tree.pids[i]) == getpid())
            return tree.pids[i];
    return 0;
}

static bool is_alone(void *pid)
{
    *(pid_t *)pid = proc_template();
    return *(pid_t *)pid > 0;
}

static bool is_another_begun(void *user)
{
    return template_beside(*(pid_t *)user) != 0;
}

TEST(load__of_a_large_one_in_the_place_of_another_holds_up_nobody)
{
    gbx_options options = hostile_options("load-hangs=100");
    reload r = {.engine = engine_start(&options)};
    pthread_t loader;
    pid_t serving;

    assert_int_equal(gbx_engine_load(r.engine, "d", "[1]", 3, GBX_DATA_JSON, NULL),
                     GBX_OK);
    assert_true(until(is_alone, &serving, 60000)); /* the first one has ended */
    assert_int_equal(pthread_create(&loader, NULL, load_large, &r), 0);
    assert_true(until(is_another_begun, &serving, 60000));
    for (int i = 0; i < 50; i++) /* far more than there are workers ready */
        check_hostile_alive(r.engine);
    assert_int_equal(kill(template_beside(serving), SIGKILL), 0);
    (void)pthread_join(loader, NULL);

    assert_int_not_equal(r.status, GBX_OK);
    gbx_engine_free(r.engine);
}

TEST_MAIN(NULL, NULL)
