/* SPDX-License-Identifier: MIT */
/* Who owns the texts of a submitted call: they are copied, or lent until its end. */
#include "base/cleanup.h"
#include "calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* More than a socket holds: most of it is sent after gbx_submit() has returned. */
#define LETTERS GBX_MIB(3)

typedef struct texts {
    char *code;
    char *input;
    size_t input_len;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gbx_result *result;
} texts;

static void texts_init(texts *t)
{
    *t =
        (texts){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    t->code = strdup("(text) => text.length + (/^a+$/.test(text) ? ' of a' : '')");
    t->input_len = LETTERS + 2;
    t->input = malloc(t->input_len);
    memset(t->input, 'a', t->input_len);
    t->input[0] = t->input[t->input_len - 1] = '"';
}

static void texts_spoil(texts *t)
{
    memset(t->code, '!', strlen(t->code));
    memset(t->input, '!', t->input_len);
}

/* The end: whoever lent the texts may do with them what it likes. */
static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    texts *t = user;

    (void)ticket;
    (void)pthread_mutex_lock(&t->lock);
    texts_spoil(t);
    t->result = result;
    (void)pthread_cond_signal(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
}

static void check(texts *t)
{
    char expected[64];

    (void)pthread_mutex_lock(&t->lock);
    while (t->result == NULL)
        (void)pthread_cond_wait(&t->changed, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
    (void)snprintf(expected, sizeof expected, "\"%zu of a\"", (size_t)LETTERS);
    assert_int_equal(gbx_result_code(t->result), GBX_CODE_VALUE);
    assert_string_equal(gbx_result_value(t->result, NULL), expected);
    gbx_result_free(t->result);
    free(t->code);
    free(t->input);
}

static gbx_call call_with(const texts *t, uint32_t flags)
{
    gbx_call call = call_of(t->code);

    call.input = t->input;
    call.input_len = t->input_len;
    call.flags = flags;
    return call;
}

/* ---- tests ------------------------------------------------------------------ */

static void test_submit__copies_the_texts_before_it_returns(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    gbx_call call;
    texts t;

    (void)state;
    texts_init(&t);
    call = call_with(&t, 0);

    assert_int_equal(gbx_submit(engine, &call, on_done, &t, NULL, NULL), GBX_OK);
    (void)pthread_mutex_lock(&t.lock);
    texts_spoil(&t);
    (void)pthread_mutex_unlock(&t.lock);

    check(&t);
    gbx_engine_free(engine);
}

static void test_submit__reads_lent_texts_until_the_call_has_ended(void **state)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = engine_start(&options);
    gbx_call call;
    texts t;

    (void)state;
    texts_init(&t);
    call = call_with(&t, GBX_CALL_LENT);

    assert_int_equal(gbx_submit(engine, &call, on_done, &t, NULL, NULL), GBX_OK);

    check(&t);
    gbx_engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submit__copies_the_texts_before_it_returns),
        cmocka_unit_test(test_submit__reads_lent_texts_until_the_call_has_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
