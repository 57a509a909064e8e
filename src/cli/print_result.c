/* SPDX-License-Identifier: MIT */
/* print_result - see cli.h. */
#include "cli/cli.h"

static void note_hidden_logs(const gbx_term *err, const gbx_result *result)
{
    size_t count = gbx_result_log_count(result);

    if (count > 0)
        (void)fprintf(err->stream, "  note: %zu console line%s: --logs shows %s\n",
                      count, count == 1 ? "" : "s", count == 1 ? "it" : "them");
}

static int print_json(const gbx_term *out, const gbx_term *err, gbx_result *result)
{
    size_t len = 0;
    const char *json = gbx_result_json(result, &len);

    if (json == NULL) {
        gbx_term_headline(err, NULL, "no memory to print the result");
        (void)fputc('\n', err->stream);
        return gbx_status_exit(GBX_E_NOMEM);
    }
    gbx_term_json(out, json, len);
    (void)fputc('\n', out->stream);
    return gbx_code_exit(gbx_result_code(result));
}

/* ---- public to other modules -------------------------------------------- */

int gbx_result_print(const gbx_term *out, const gbx_term *err, gbx_result *result,
                     bool json, bool logs_shown)
{
    gbx_code code = gbx_result_code(result);
    size_t len = 0;

    if (json)
        return print_json(out, err, result);
    if (code == GBX_CODE_VALUE) {
        const char *value = gbx_result_value(result, &len);

        gbx_term_json(out, value, len);
        if (len > 0)
            (void)fputc('\n', out->stream);
        else /* it has no JSON */
            (void)fputs("  note: the function returned undefined\n", err->stream);
    } else {
        gbx_result_print_failure(err, result);
        if (!logs_shown)
            note_hidden_logs(err, result);
    }
    return gbx_code_exit(code);
}
