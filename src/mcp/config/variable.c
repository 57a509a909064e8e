/* SPDX-License-Identifier: MIT */
/* variable - see config.h. Values never appear in messages. */
#include "mcp/config/config.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 128

typedef struct reference {
    char name[NAME_MAX_LEN + 1];
    const char *otherwise; /* the default, or NULL */
    size_t otherwise_len;
    size_t len; /* with "${" and "}" */
} reference;

static size_t name_len(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                            "0123456789");

    return text[0] >= '0' && text[0] <= '9' ? 0 : n;
}

/* Parse the reference at text, which begins with "${"; false if its form is unknown. */
static bool take(const char *text, reference *ret)
{
    const char *name = text + 2;
    const char *at;
    size_t len;

    if (strncmp(name, "env:", 4) == 0)
        name += 4;
    len = name_len(name);
    at = name + len;
    if (len == 0 || len > NAME_MAX_LEN)
        return false;
    *ret = (reference){.otherwise = NULL};
    memcpy(ret->name, name, len);
    if (strncmp(at, ":-", 2) == 0) {
        ret->otherwise = at + 2;
        ret->otherwise_len = strcspn(ret->otherwise, "}");
        at = ret->otherwise + ret->otherwise_len;
    }
    if (*at != '}')
        return false;
    ret->len = (size_t)(at + 1 - text);
    return true;
}

static gbx_status refuse_editor(const char *text, gbx_error *reterr)
{
    static const char *const forms[] = {"${input:", "${command:", "${config:",
                                        "${userHome}", "${workspaceFolder"};

    for (size_t i = 0; i < GBX_COUNTOF(forms); i++)
        if (strncmp(text, forms[i], strlen(forms[i])) == 0)
            return gbx_fail(reterr, GBX_E_POLICY,
                            "'%s...' is filled in by an editor alone: write "
                            "${VAR}" GBX_VARIABLES_IMPORT,
                            forms[i]);
    return GBX_OK;
}

static gbx_status put(const reference *ref, gbx_variable_fn used, void *user,
                      gbx_buf *to, gbx_error *reterr)
{
    const char *value = getenv(ref->name);

    /* The reference ends at the first brace, that of the inner variable; the rest would
     * become text. */
    if (ref->otherwise_len > 1 &&
        memmem(ref->otherwise, ref->otherwise_len, "${", 2) != NULL)
        return gbx_fail(reterr, GBX_E_POLICY,
                        "the default of '${%s:-...}' cannot hold another variable",
                        ref->name);
    if ((value == NULL || *value == '\0') && ref->otherwise != NULL) {
        (void)gbx_buf_append(to, ref->otherwise, ref->otherwise_len);
        return GBX_OK;
    }
    if (value != NULL)
        (void)gbx_buf_puts(to, value);
    return used(user, ref->name, value);
}

/* Copy the text before the next unescaped "${" to `to`, unless that is NULL. Returns
 * the text from there on, or NULL. */
static const char *copy_plain(const char *text, gbx_buf *to)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, "$");
        size_t dollars = strspn(text + plain, "$");
        bool opens = text[plain + dollars] == '{';

        if (to != NULL)
            (void)gbx_buf_append(to, text, plain + (opens ? dollars / 2 : dollars));
        text += plain + dollars;
        if (opens && dollars % 2 == 1)
            return text - 1;
        if (opens && to != NULL)
            (void)gbx_buf_append(to, text, 1);
        text += opens;
    }
    return NULL;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_variables_fill(const char *text, gbx_variable_fn used, void *user,
                              char **ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    gbx_status status = GBX_OK;

    gbx_buf_init_secret(&buf, GBX_MCP_TEXT_MAX);
    (void)gbx_buf_puts(&buf, "");
    while (status == GBX_OK && (text = copy_plain(text, &buf)) != NULL) {
        reference ref;

        status = refuse_editor(text, reterr);
        if (status == GBX_OK && take(text, &ref)) {
            status = put(&ref, used, user, &buf, reterr);
            text += ref.len;
        } else if (status == GBX_OK) {
            (void)gbx_buf_append(&buf, text, 2);
            text += 2;
        }
    }
    if (status == GBX_OK && buf.failed)
        status = gbx_fail(reterr, GBX_E_POLICY,
                          "the text is longer than %d bytes with its variables",
                          GBX_MCP_TEXT_MAX);
    if (status == GBX_OK) {
        *ret = gbx_buf_take_string(&buf, NULL);
        if (*ret == NULL)
            status = gbx_fail(reterr, GBX_E_NOMEM, "no memory for the configuration");
    }
    return status;
}

char *gbx_variables_unset(char *const *names, size_t count)
{
    gbx_buf text;

    gbx_buf_init(&text, GBX_KIB(4)); /* a longer list is of no interest */
    (void)gbx_buf_printf(&text, "the environment variable%s", count > 1 ? "s" : "");
    for (size_t i = 0; i < count && text.len < GBX_KIB(3); i++)
        (void)gbx_buf_printf(&text, "%s '%s'",
                             i == 0          ? ""
                             : i + 1 < count ? ","
                                             : " and",
                             names[i]);
    (void)gbx_buf_printf(
        &text,
        " %s not set: set %s (some hosts pass on only what \"env\" of the "
        "entry of glovebox has), or write ${%s:-default}",
        count > 1 ? "are" : "is", count > 1 ? "them" : "it", names[0]);
    return gbx_buf_take_string(&text, NULL);
}

void gbx_variables_escape(const char *text, gbx_buf *to)
{
    while (*text != '\0') {
        size_t plain = strcspn(text, "$");
        size_t dollars = strspn(text + plain, "$");

        (void)gbx_buf_append(to, text, plain + dollars);
        if (text[plain + dollars] == '{')
            (void)gbx_buf_append(to, text + plain, dollars);
        text += plain + dollars;
    }
}
