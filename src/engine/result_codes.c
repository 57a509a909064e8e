/* SPDX-License-Identifier: MIT */
/* result_codes - texts of the two tables. */
#include <glovebox/glovebox.h>

#include <stdlib.h>

/* ---- public API ---------------------------------------------------------- */

const char *gbx_status_name(gbx_status status)
{
    switch (status) {
#define XX(name, number, exit, rpc, text) \
    case GBX_##name: return "GBX_" #name;
        GBX_STATUS_MAP(XX)
#undef XX
    }
    return "GBX_E_UNKNOWN";
}

const char *gbx_code_name(gbx_code code)
{
    switch (code) {
#define XX(name, number, exit, text) \
    case GBX_CODE_##name: return number == 0 ? "OK" : #name;
        GBX_CODE_MAP(XX)
#undef XX
    }
    return "UNKNOWN";
}

const char *gbx_code_text(gbx_code code)
{
    switch (code) {
#define XX(name, number, exit, text) \
    case GBX_CODE_##name: return text;
        GBX_CODE_MAP(XX)
#undef XX
    }
    return "unknown code";
}

int gbx_code_exit(gbx_code code)
{
    switch (code) {
#define XX(name, number, exit, text) \
    case GBX_CODE_##name: return exit;
        GBX_CODE_MAP(XX)
#undef XX
    }
    return 70;
}

const char *gbx_form_name(gbx_form form)
{
    static const char *const names[] = {"function", "execute", "body", "script"};

    return form <= GBX_FORM_SCRIPT ? names[form] : "unknown";
}

const char *gbx_version(void)
{
    return GBX_VERSION;
}

void gbx_string_free(char *string)
{
    free(string);
}
