/* SPDX-License-Identifier: MIT */
/* guard - what the engine need not find out again. */
#include "guard/guard.h"
#include "test.h"

#define LIMIT 65536
#define F     GBX_FORM_FUNCTION
#define E     GBX_FORM_EXECUTE
#define B     GBX_FORM_BODY
#define S     GBX_FORM_SCRIPT

TEST(guard__knows_what_is_the_body_of_an_asynchronous_function)
{
    static const struct {
        gbx_form form;
        const char *code;
        bool is_parsed;
    } samples[] = {
        {S, "return 1", false}, /* the worker finds out */
        {B, "1 + 1", true},
        {B, "return 1", true},
        {B, "}); f(); (async function () {", false},
        {F, "(a) => a", true},
        {E, "function execute() { return 1 }", false},
    };

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        gbx_report *report = NULL;
        gbx_guard_span span;

        assert_int_equal(gbx_guard_check(samples[i].code, strlen(samples[i].code),
                                         samples[i].form, LIMIT, NULL, &span, &report,
                                         NULL),
                         GBX_OK);
        gbx_report_free(report);
        if (span.is_parsed != samples[i].is_parsed)
            print_message("in: %s\n", samples[i].code);
        assert_true(span.is_parsed == samples[i].is_parsed);
    }
}

TEST_MAIN(NULL, NULL)
