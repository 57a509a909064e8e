/* SPDX-License-Identifier: MIT */
/*
 * fuzz_guard - code of any kind in any form, with and without what a policy allows, and
 * any word of the engine about it.
 *
 * Input: form, line, column (a byte each), the engine's message up to a NUL, the code.
 */
#include "analysis/analysis.h"
#include "guard/guard.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX (64 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has_name(void *user, const char *name)
{
    return name[0] == 'n';
}

/* Every site but those that begin like this one. */
static bool may_fetch(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE])
{
    site[0] = '\0';
    return len < 9 || memcmp(url, "https://e", 9) != 0;
}

static void check_allowed(const char *code, size_t len, gbx_form form)
{
    const gbx_guard_world world = {.capabilities = GBX_CAP_FETCH | GBX_CAP_ENV,
                                   .has_name = has_name,
                                   .may_fetch = may_fetch};
    gbx_report *report = NULL;

    if (gbx_guard_check(code, len, form, CODE_MAX, &world, NULL, &report, NULL) ==
        GBX_OK)
        gbx_report_free(report);
}

static void check(const char *code, size_t len, gbx_form form)
{
    gbx_guard_span span = {0};
    gbx_report *report = NULL;

    if (gbx_guard_check(code, len, form, CODE_MAX, NULL, &span, &report, NULL) ==
        GBX_OK)
        assert(span.start <= len && span.len <= len - span.start);
    gbx_report_free(report);
    if (gbx_check(code, len, form, NULL, &report, NULL) != GBX_OK)
        return;
    for (size_t i = 0; i < gbx_report_count(report); i++)
        assert(*gbx_report_get(report, i).rule != 0 &&
               gbx_report_get(report, i).line != 0);
    gbx_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > 3 ? memchr(data + 3, 0, size - 3) : NULL;
    const gbx_given given = {.flags = size > 0 ? data[0] >> 2 : 0,
                             .datasets = "orders a",
                             .dataset = "a"};
    gbx_explanation explanation;
    const char *code;
    size_t len;

    if (end == NULL)
        return 0;
    code = (const char *)end + 1;
    len = size - (size_t)(end + 1 - data);
    check(code, len, data[0] & 3);
    check_allowed(code, len, data[0] & 3);
    explanation = (gbx_explanation){.line = data[1], .column = data[2]};
    gbx_explain(code, len, data[0] & 3, (gbx_explained_end)((data[0] >> 2) % 3),
                (const char *)data + 3, &given, &explanation);
    assert(explanation.start <= explanation.end && explanation.end <= len);
    free(gbx_guard_frame(code, len, explanation.line, explanation.column));
    return 0;
}
