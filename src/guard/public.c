/* SPDX-License-Identifier: MIT */
/* public - the guard's part of glovebox.h. */
#include "guard/guard.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The documented defaults and bound of gbx_limits.code_bytes. */
#define CODE_BYTES        65536
#define CODE_BYTES_SCRIPT 51200
#define CODE_BYTES_MAX    (1024 * 1024)

/* Read the field of a structure that may be older or newer than this library. most: 0,
 * or its upper bound. */
static gbx_status code_bytes(const gbx_limits *limits, gbx_form form, uint32_t most,
                             size_t *ret, gbx_error *reterr)
{
    size_t known = offsetof(gbx_limits, code_bytes) + sizeof limits->code_bytes;
    const char *bytes = (const char *)limits;

    *ret = most != 0 ? most : form == GBX_FORM_SCRIPT ? CODE_BYTES_SCRIPT : CODE_BYTES;
    if (limits == NULL)
        return GBX_OK;
    if (limits->struct_size < sizeof limits->struct_size)
        return gbx_fail(reterr, GBX_E_USAGE, "limits.struct_size is not set");
    for (size_t i = sizeof *limits; i < limits->struct_size; i++)
        if (bytes[i] != 0)
            return gbx_fail(reterr, GBX_E_USAGE, "limits has fields unknown here");
    if (limits->struct_size < known || limits->code_bytes == 0)
        return GBX_OK;
    if (limits->code_bytes > CODE_BYTES_MAX)
        return gbx_fail(reterr, GBX_E_USAGE, "limits.code_bytes is more than %d",
                        CODE_BYTES_MAX);
    *ret = most != 0 && most < limits->code_bytes ? most : limits->code_bytes;
    return GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_guard_report(const char *code, size_t code_len, gbx_form form,
                            const gbx_limits *limits, const gbx_guard_world *world,
                            gbx_report **ret_report, gbx_error *reterr)
{
    gbx_report *report = NULL;
    size_t max_len;
    gbx_status status;

    if (ret_report == NULL || (code == NULL && code_len > 0))
        return gbx_fail(reterr, GBX_E_USAGE, "code or ret_report is NULL");
    if ((unsigned)form > GBX_FORM_SCRIPT)
        return gbx_fail(reterr, GBX_E_USAGE, "form is out of range");
    status = code_bytes(limits, form, world != NULL ? world->code_bytes : 0, &max_len,
                        reterr);
    if (status == GBX_OK)
        status = gbx_guard_full(code, code_len, form, max_len, world, &report, reterr);
    if (status != GBX_OK)
        return status;
    if (report == NULL)
        report = calloc(1, sizeof *report);
    if (report == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the report on the code");
    *ret_report = report;
    return GBX_OK;
}

/* ---- public ------------------------------------------------------------------ */

gbx_status gbx_check(const char *code, size_t code_len, gbx_form form,
                     const gbx_limits *limits, gbx_report **ret_report,
                     gbx_error *reterr)
{
    static const gbx_guard_world unknown = {.may_bind = true,
                                            .capabilities = GBX_CAP_HELPERS};

    return gbx_guard_report(code, code_len, form, limits, &unknown, ret_report, reterr);
}

size_t gbx_report_count(const gbx_report *report)
{
    return report == NULL ? 0 : report->count;
}

gbx_violation gbx_report_get(const gbx_report *report, size_t index)
{
    static const gbx_violation none = {.rule = "",
                                       .message = "",
                                       .hint = "",
                                       .frame = ""};

    return index < gbx_report_count(report) ? report->list[index] : none;
}

void gbx_report_free(gbx_report *report)
{
    if (report == NULL)
        return;
    free(report->text);
    free(report);
}
