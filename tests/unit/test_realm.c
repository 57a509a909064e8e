/* SPDX-License-Identifier: MIT */
/*
 * The realm, by the blocks (table.h) of tests/unit/realm/<group>.txt. A case is
 *
 *   == the claim
 *   -- options (realm_call.h), and those of read_option() below; may be missing
 *   ++ name of a preload; its lines follow, up to one that is ++ alone; may be missing
 *   the code, any number of lines
 *   => the outcome (realm_call.h), any number of lines; "~" before it: its beginning
 *
 * The block "options" has options of all cases after it. Each case runs in a process of its
 * own, in the environment of a worker, unsealed.
 */
#include "support/realm_call.h"
#include "table.h"
#include "test.h"

#include "base/buf.h"

#define CASES_MAX 200

typedef struct realm_case {
    const table_block *block;
    const char *common; /* options of all cases */
    const char *code;
    const char *preload_names[4];
    const char *preloads[4];
    unsigned preload_count;
    char *other; /* an outcome as good, spaces as _; NULL: none */
    char *bare;  /* what the engine alone makes of the code; NULL: not asked */
    unsigned deadline_ms;
    bool crlf;       /* lines of the code end in CR LF */
    char replace_at; /* @ in the code stands for this byte */
    bool replaces;
    size_t deep; /* @ in the code stands for so many open brackets */
} realm_case;

/* The preloads on top of the text, which stays; what follows them is the code. */
static void split_text(realm_case *c, char *text)
{
    while (strncmp(text, "++ ", 3) == 0) {
        char *before = strchr(text, '\n');
        char *end = strstr(before, "\n++\n");

        assert_non_null(end);
        assert_true(c->preload_count < GBX_COUNTOF(c->preloads));
        *before = *end = 0;
        c->preload_names[c->preload_count] = text + 3;
        c->preloads[c->preload_count++] = before < end ? before + 1 : "";
        text = end + 4;
    }
    c->code = text;
}

static size_t read_cases(const char *group, realm_case *cases)
{
    const table_block *blocks;
    const char *common = "";
    char path[64];
    size_t count;
    size_t n = 0;

    (void)snprintf(path, sizeof path, "unit/realm/%s.txt", group);
    count = table_blocks(path, &blocks);
    assert_true(count <= CASES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(blocks[i].name, "options") == 0) {
            common = blocks[i].text;
            continue;
        }
        cases[n].block = &blocks[i];
        cases[n].common = common;
        split_text(&cases[n++], strdup(blocks[i].text));
    }
    return n;
}

static bool read_option(realm_case *c, realm_call *call, char *option)
{
    if (strncmp(option, "or=", 3) == 0) {
        c->other = option + 3;
        for (char *p = c->other; *p != 0; p++)
            *p = *p == '_' ? ' ' : *p;
    } else if (strncmp(option, "bare=", 5) == 0)
        c->bare = option + 5;
    else if (strncmp(option, "deadline=", 9) == 0)
        c->deadline_ms = (unsigned)strtoul(option + 9, NULL, 10);
    else if (strncmp(option, "deep=", 5) == 0)
        c->deep = strtoul(option + 5, NULL, 10);
    else if (strcmp(option, "crlf=1") == 0)
        c->crlf = true;
    else if (strcmp(option, "nul=1") == 0 || strcmp(option, "bytes=1") == 0) {
        c->replaces = true;
        c->replace_at = *option == 'n' ? 0 : (char)0xFF;
    } else
        return realm_call_option(call, option);
    return true;
}

/* The code as the case means it; free() it. */
static char *make_code(const realm_case *c, size_t *ret_len)
{
    gbx_buf code;

    gbx_buf_init(&code, GBX_MIB(1));
    for (const char *p = c->code; *p != 0; p++) {
        if (c->replaces && *p == '@') {
            assert_true(gbx_buf_append(&code, &c->replace_at, 1));
            continue;
        }
        for (size_t i = 0; i < c->deep && *p == '@'; i++)
            assert_true(gbx_buf_append(&code, "[", 1));
        if (c->deep > 0 && *p == '@')
            continue;
        if (c->crlf && *p == '\n')
            assert_true(gbx_buf_append(&code, "\r", 1));
        assert_true(gbx_buf_append(&code, p, 1));
    }
    return gbx_buf_take_string(&code, ret_len);
}

static void expect(const char *expected, const char *actual)
{
    if (*expected != '~') {
        assert_string_equal(actual, expected);
        return;
    }
    if (strncmp(actual, expected + 1, strlen(expected + 1)) != 0)
        fail_msg("\"%.200s\" does not begin with \"%s\"", actual, expected + 1);
}

static gbx_span span_of(const char *text)
{
    return (gbx_span){(const uint8_t *)text, text != NULL ? strlen(text) : 0};
}

/* The call keeps pointers into the options: they are never freed. */
static void read_options(realm_case *c, realm_call *call, const char *options)
{
    char *at = strdup(options);

    while (at != NULL && *at != 0)
        assert_true(read_option(c, call, strsep(&at, " \n")));
}

static void run_case(void **state)
{
    realm_case *c = *state;
    realm_call call = REALM_CALL_INIT;
    char *code, *outcome;

    read_options(c, &call, c->common);
    read_options(c, &call, c->block->options);
    for (unsigned i = 0; i < c->preload_count; i++)
        call.preloads[i] = (gbx_realm_preload){.name = span_of(c->preload_names[i]),
                                               .source = span_of(c->preloads[i])};
    call.preload_count = c->preload_count;
    code = make_code(c, &call.code_len);
    call.code = code;
    outcome = realm_outcome(&call, c->deadline_ms);
    if (c->other == NULL || strcmp(c->other, outcome) != 0)
        expect(c->block->value, outcome);
    free(outcome);
    if (c->bare != NULL) {
        outcome = realm_bare(code);
        expect(c->bare, outcome);
        free(outcome);
    }
    free(code);
}

static int run_group(const char *group)
{
    static realm_case cases[CASES_MAX];
    static struct CMUnitTest tests[CASES_MAX];
    size_t count = read_cases(group, cases);

    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].block->name,
                                       .test_func = run_case,
                                       .initial_state = &cases[i]};
    return _cmocka_run_group_tests(group, tests, count, NULL, NULL);
}

int main(int argc, char **argv)
{
    int failed = 0;

    realm_environment(argv);
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    for (int i = 1; i < argc && i < 2; i++)
        failed += run_group(argv[i]);
    return failed != 0;
}
