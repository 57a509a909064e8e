/* SPDX-License-Identifier: MIT */
/* control - what a template may say, when, and what the engine makes of it. */
#include "base/cleanup.h"
#include "puppet.h"
#include "test.h"

#include <sys/socket.h>
#include <unistd.h>

static void serve(puppet *p)
{
    assert_true(puppet_say_hello(p));
    assert_int_equal(p->template->state, GBX_TEMPLATE_SERVING);
    assert_ptr_equal(p->engine.current, p->template);
    assert_true(puppet_is_sound(p));
}

static bool say_frame(puppet *p, uint8_t type, const void *body, uint8_t len)
{
    uint8_t header[GBX_FRAME_HEADER_SIZE] = {len, 0, 0, 0, type};

    return puppet_hear(p, header, sizeof header) && puppet_hear(p, body, len);
}

/* A TEST() that has a puppet *p with the default options. */
#define PUPPET_TEST(name)                       \
    static void name##_of(puppet *p);           \
    TEST(name)                                  \
    {                                           \
        GBX_CLEANUP(puppet_cleanup) puppet one; \
                                                \
        puppet_init(&one, NULL);                \
        name##_of(&one);                        \
    }                                           \
    static void name##_of(puppet *p)

/* ---- HELLO --------------------------------------------------------------------- */

PUPPET_TEST(hello__makes_it_serve_and_fills_the_pool)
{
    serve(p);

    assert_true(p->engine.change.is_done);
    assert_int_equal(p->engine.change.error.status, GBX_OK);
    assert_true(p->engine.facts.known);
    assert_int_equal(p->engine.facts.threads, 1);
    assert_int_equal(puppet_count_sent(p, GBX_MSG_FORK), 5);
}

PUPPET_TEST(hello__is_said_once)
{
    serve(p);

    assert_false(puppet_say_hello(p));
}

/* HELLO with one thing changed; why the engine does not start, or "" if it does. */
static const char *greet(puppet *p, gbx_msg_hello *hello)
{
    gbx_buf buf;

    gbx_buf_init(&buf, GBX_KIB(16));
    assert_true(gbx_msg_put(&buf, 0, hello));
    (void)puppet_hear(p, buf.data, buf.len);
    gbx_buf_cleanup(&buf);
    return p->engine.change.error.message;
}

static gbx_msg_hello all_layers(void)
{
    gbx_msg_hello hello = {.version = GBX_WIRE_VERSION, .layer_count = GBX_LAYER_COUNT};

    for (uint8_t i = 0; i < GBX_LAYER_COUNT; i++)
        hello.layers[i] = (gbx_layer_report){.layer = i, .stands = 1};
    return hello;
}

TEST(hello__with_each_layer_missing)
{
    for (size_t i = 0; i < (size_t)GBX_LAYER_COUNT * 2; i++) {
        gbx_options options = GBX_OPTIONS_INIT;
        gbx_msg_hello hello = all_layers();
        bool starts = i % 2 == 0 && !gbx_layers[i / 2].is_required;
        GBX_CLEANUP(puppet_cleanup) puppet p;

        options.require = i % 2 == 0 ? GBX_REQUIRE_DEFAULT : GBX_REQUIRE_STRICT;
        hello.layers[i / 2].stands = 0;
        hello.layers[i / 2].reason = (gbx_span){(const uint8_t *)"a\nreason", 8};
        puppet_init(&p, &options);
        (void)greet(&p, &hello);
        assert_int_equal(p.template->state == GBX_TEMPLATE_SERVING, starts);
        assert_int_equal(p.engine.change.error.status,
                         starts ? GBX_OK : GBX_E_UNSUPPORTED);
        assert_string_equal(p.engine.facts.layers[i / 2].reason, "a\\nreason");
    }
}

PUPPET_TEST(hello__a_layer_not_reported_does_not_stand)
{
    gbx_msg_hello hello = all_layers();
    hello.layer_count = GBX_LAYER_SECCOMP; /* it and those after it are left out */

    assert_non_null(strstr(greet(p, &hello), "'seccomp' is required and missing"));

    assert_int_equal(p->engine.change.error.status, GBX_E_UNSUPPORTED);
}

PUPPET_TEST(hello__says_why_it_cannot_serve)
{
    gbx_msg_hello hello = all_layers();
    hello.failure = (gbx_span){(const uint8_t *)"no \x1B[1mengine", 13};

    assert_string_equal(greet(p, &hello),
                        "the worker program cannot serve: no \\u{1b}[1mengine");
}

PUPPET_TEST(hello__of_another_layer_number_is_none_of_ours)
{
    gbx_msg_hello layer = all_layers();
    layer.layers[0].layer = 255; /* of a newer worker */
    (void)greet(p, &layer);

    assert_int_equal(p->template->state, GBX_TEMPLATE_SERVING);
    assert_false(p->engine.facts.layers[0].stands);
}

/* Nothing but the version is where it was. */
TEST(hello__of_another_version_names_both_in_any_layout)
{
    static const uint8_t body[] = {77, 0, 0, 0, 0xFF, 0xFF, 0xFF};

    for (uint8_t len = 4; len <= sizeof body; len++) {
        GBX_CLEANUP(puppet_cleanup) puppet p;

        puppet_init(&p, NULL);
        assert_false(say_frame(&p, GBX_MSG_HELLO, body, len));
        assert_non_null(strstr(p.engine.change.error.message, "its protocol is 77,"));
        assert_string_equal(p.engine.lack, p.engine.change.error.message);
    }
}

/* ---- every type, before and after HELLO ------------------------------------------- */

TEST(every_type__that_is_not_a_templates_ends_it)
{
    for (unsigned i = 0; i < 512; i++) {
        uint8_t type = (uint8_t)i;
        bool is_known = type >= GBX_MSG_HELLO && type <= GBX_MSG_LOADED;
        GBX_CLEANUP(puppet_cleanup) puppet p;

        puppet_init(&p, NULL);
        if (i >= 256)
            serve(&p);
        if (!is_known)
            assert_false(say_frame(&p, type, NULL, 0));
        assert_true(puppet_is_sound(&p));
    }
}

TEST(bodies__of_no_length_or_too_long_end_it)
{
    static const uint8_t types[] = {GBX_MSG_HELLO, GBX_MSG_FORKED, GBX_MSG_EXITED,
                                    GBX_MSG_LOADED};

    for (size_t i = 0; i < GBX_COUNTOF(types) * 2; i++) {
        uint8_t zeros[64] = {0};
        GBX_CLEANUP(puppet_cleanup) puppet p;

        puppet_init(&p, NULL);
        serve(&p);
        assert_false(say_frame(&p, types[i / 2], zeros, i % 2 == 0 ? 0 : 64));
    }
}

PUPPET_TEST(length__at_the_limit_waits_for_the_body)
{
    static const uint8_t fits[GBX_FRAME_HEADER_SIZE] = {0, 0x40, 0, 0, GBX_MSG_HELLO};

    assert_true(puppet_hear(p, fits, sizeof fits));
}

PUPPET_TEST(length__over_the_limit_ends_it_at_the_header)
{
    static const uint8_t long_one[GBX_FRAME_HEADER_SIZE] = {1, 0x40, 0, 0,
                                                            GBX_MSG_HELLO};

    assert_false(puppet_hear(p, long_one, sizeof long_one));
}

TEST(frames__in_pieces_of_any_size)
{
    gbx_msg_hello hello = all_layers();
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, GBX_KIB(4));
    assert_true(gbx_msg_put(&buf, 0, &hello));
    assert_true(gbx_msg_put(&buf, 0, &(gbx_msg_exited){.worker_id = 77}));

    for (size_t piece = 1; piece <= buf.len; piece += 3) {
        GBX_CLEANUP(puppet_cleanup) puppet p;

        puppet_init(&p, NULL);
        for (size_t at = 0; at < buf.len; at += piece)
            assert_true(puppet_hear(&p, buf.data + at,
                                    buf.len - at < piece ? buf.len - at : piece));
        assert_int_equal(p.template->state, GBX_TEMPLATE_SERVING);
        assert_int_equal(p.template->in.len, 0);
    }
}

/* ---- FORKED, READY, EXITED ----------------------------------------------------------- */

PUPPET_TEST(forked__brings_a_worker_and_ready_makes_it_one)
{
    serve(p);

    assert_true(puppet_say_forked(p, 1, 0));
    assert_int_equal(gbx_pool_find(&p->engine, 1)->state, GBX_WORKER_STARTING);
    assert_int_equal(p->engine.coming, 5);
    puppet_say_ready(p, 0);

    assert_int_equal(gbx_pool_find(&p->engine, 1)->state, GBX_WORKER_READY);
    assert_int_equal(p->engine.ready_count, 1);
    assert_true(puppet_is_sound(p));
}

PUPPET_TEST(forked__twice_for_a_worker_ends_the_template)
{
    serve(p);
    assert_true(puppet_say_forked(p, 1, 0));

    assert_false(puppet_say_forked(p, 1, 0));
    assert_false(puppet_say_forked(p, 1, 11));

    assert_true(puppet_is_sound(p));
}

PUPPET_TEST(forked__of_nobody_ends_it)
{
    serve(p);

    assert_false(puppet_say_forked(p, 99, 0));
    assert_false(puppet_say_forked(p, 99, 11));
}

PUPPET_TEST(forked__without_descriptors_ends_it)
{
    gbx_msg_forked forked = {.worker_id = 1};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 256);
    assert_true(gbx_msg_put(&buf, 0, &forked));
    serve(p);

    assert_false(puppet_hear(p, buf.data, buf.len));
}

PUPPET_TEST(forked__whose_descriptors_were_lost_is_one_worker_less)
{
    gbx_msg_forked forked = {.worker_id = 1};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    gbx_buf_init(&buf, 256);
    assert_true(gbx_msg_put(&buf, 0, &forked));
    serve(p);
    p->template->fds[0] = p->template->fds[1] = -1;
    p->template->fd_count = 2;

    assert_true(puppet_hear(p, buf.data, buf.len));
    assert_int_equal(p->engine.coming, 4);
    assert_int_equal(p->template->fd_count, 0);
    assert_true(puppet_say_forked(p, 2, 0));
    puppet_say_ready(p, 0);
    assert_int_equal(p->engine.ready_count, 1);
    assert_true(puppet_is_sound(p));
    assert_true(puppet_say_exited(p, 1, 0));

    assert_null(gbx_pool_find(&p->engine, 1));
    assert_true(puppet_is_sound(p));
}

PUPPET_TEST(forked__with_an_error_is_asked_for_again_later)
{
    serve(p);

    assert_true(puppet_say_forked(p, 1, 11));
    assert_null(gbx_pool_find(&p->engine, 1));
    assert_int_equal(p->engine.coming, 4);
    (void)puppet_count_sent(p, GBX_MSG_FORK);
    gbx_pool_fill(&p->engine);

    assert_int_equal(puppet_count_sent(p, GBX_MSG_FORK), 1);
}

/* All that a worker could say in READY's place. */
static const struct {
    uint8_t data[17];
    size_t len;
} not_ready[] = {
    {{0}, 16},                                     /* type 0 */
    {{0, 0, 0, 0, GBX_MSG_RESULT}, 16},            /* too early */
    {{1, 0, 0, 0, GBX_MSG_READY}, 16},             /* with a body */
    {{0, 0, 0, 0, GBX_MSG_READY, 1}, 16},          /* reserved */
    {{0, 0, 0, 0, GBX_MSG_READY, 0, 0, 0, 1}, 16}, /* of a call */
    {{0, 0, 0, 0, GBX_MSG_READY}, 15},             /* cut */
};

TEST(ready__anything_else_is_the_end_of_the_worker)
{
    for (size_t i = 0; i < GBX_COUNTOF(not_ready); i++) {
        GBX_CLEANUP(puppet_cleanup) puppet p;

        puppet_init(&p, NULL);
        serve(&p);
        assert_true(puppet_say_forked(&p, 1, 0));
        assert_int_equal(send(p.fars[0], not_ready[i].data, not_ready[i].len, 0),
                         not_ready[i].len);
        puppet_loop(&p);
        assert_int_equal(gbx_pool_find(&p.engine, 1)->state, GBX_WORKER_SPENT);
        assert_int_equal(p.engine.ready_count, 0);
        assert_true(puppet_is_sound(&p));
    }
}

PUPPET_TEST(ready__a_closed_channel_is_the_end_of_the_worker)
{
    serve(p);
    assert_true(puppet_say_forked(p, 1, 0));

    gbx_fd_close(&p->fars[0]);
    puppet_loop(p);

    assert_int_equal(gbx_pool_find(&p->engine, 1)->state, GBX_WORKER_SPENT);
    assert_int_equal(p->engine.coming, 5); /* another one was asked for */
}

TEST(exited__in_every_state_of_a_worker)
{
    for (int step = 0; step < 3; step++) { /* forking, starting, ready */
        GBX_CLEANUP(puppet_cleanup) puppet p;

        puppet_init(&p, NULL);
        serve(&p);
        if (step >= 1)
            assert_true(puppet_say_forked(&p, 1, 0));
        if (step >= 2)
            puppet_say_ready(&p, 0);
        (void)puppet_count_sent(&p, GBX_MSG_FORK);
        assert_true(puppet_say_exited(&p, 1, 9));
        assert_null(gbx_pool_find(&p.engine, 1));
        assert_int_equal(puppet_count_sent(&p, GBX_MSG_FORK), 1);
        assert_true(puppet_say_exited(&p, 1, 9)); /* of nobody: nothing */
        assert_true(puppet_is_sound(&p));
    }
}

/* ---- LOADED ----------------------------------------------------------------------------- */

PUPPET_TEST(loaded__that_nobody_asked_for_ends_it)
{
    static const uint8_t loaded[13] = {1};
    serve(p);

    assert_false(say_frame(p, GBX_MSG_LOADED, loaded, sizeof loaded));
}

PUPPET_TEST(loaded__answers_the_load_in_progress)
{
    static const uint8_t refused[] = {0, 0, 0, 0, 0, 0,   0,    0,
                                      0, 3, 0, 0, 0, 'n', '\n', 'o'};
    serve(p);
    p->engine.change = (gbx_change){.kind = GBX_CHANGE_UPDATE};
    p->template->loads_pending = 1;

    assert_true(say_frame(p, GBX_MSG_LOADED, refused, sizeof refused));

    assert_true(p->engine.change.is_done);
    assert_int_equal(p->engine.change.error.status, GBX_E_DATA);
    assert_string_equal(p->engine.change.error.message, "n\\no");
}

PUPPET_TEST(datasets__are_loaded_before_a_template_serves)
{
    static const uint8_t loaded[13] = {1};
    gbx_dataset *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->memfd = dup(p->far);
    d->name[0] = 'd';
    p->engine.datasets = d;

    assert_true(puppet_say_hello(p));
    assert_int_equal(p->template->state, GBX_TEMPLATE_LOADING);
    assert_null(p->engine.current);
    assert_int_equal(puppet_count_sent(p, GBX_MSG_LOAD), 1);
    assert_true(say_frame(p, GBX_MSG_LOADED, loaded, sizeof loaded));

    assert_int_equal(p->template->state, GBX_TEMPLATE_SERVING);
}

TEST_MAIN(NULL, NULL)
