/* SPDX-License-Identifier: MIT */
/* http_headers - see internal.h. */
#include "mcp/upstream/internal.h"

#include "base/base64.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN "=?base64?"
#define END   "?="

/* Every server and intermediary reads such a value in the same way. */
static bool is_plain(const char *value, size_t len)
{
    if (len == 0 || value[0] == ' ' || value[len - 1] == ' ' || value[0] == '\t' ||
        value[len - 1] == '\t')
        return false;
    for (size_t i = 0; i < len; i++)
        if ((value[i] < ' ' && value[i] != '\t') || value[i] > '~')
            return false;
    return !(len >= strlen(BEGIN END) && memcmp(value, BEGIN, strlen(BEGIN)) == 0 &&
             memcmp(value + len - strlen(END), END, strlen(END)) == 0);
}

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_is_token(const char *name)
{
    static const char others[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return *name != 0 && strspn(name, others) == strlen(name);
}

void gbx_http_header_add(gbx_http_headers *headers, const char *name, const char *value)
{
    struct curl_slist *list;
    char *line = NULL;

    if (headers->failed || asprintf(&line,
                                    value == NULL ? "%s:"
                                    : *value == 0 ? "%s;"
                                                  : "%s: %s",
                                    name, value) < 0) {
        headers->failed = true;
        return;
    }
    list = headers->lib->curl_slist_append(headers->list, line);
    explicit_bzero(line, strlen(line));
    free(line);
    if (list == NULL)
        headers->failed = true;
    else
        headers->list = list;
}

void gbx_http_header_add_value(gbx_http_headers *headers, const char *name,
                               const char *value, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};

    gbx_buf_init_secret(&text, GBX_KIB(64));
    if (is_plain(value, len)) {
        (void)gbx_buf_append(&text, value, len);
    } else {
        (void)gbx_buf_puts(&text, BEGIN);
        (void)gbx_base64_append(&text, value, len);
        (void)gbx_buf_puts(&text, END);
    }
    (void)gbx_buf_append(&text, "", 1);
    if (text.failed)
        headers->failed = true;
    else
        gbx_http_header_add(headers, name, (const char *)text.data);
}

void gbx_http_headers_cleanup(gbx_http_headers *headers)
{
    gbx_libcurl_wipe(headers->lib, headers->list);
    headers->list = NULL;
}

bool gbx_http_headers_check(const gbx_mcp_upstream_config *config,
                            const char **ret_name)
{
    for (size_t i = 0; i < config->header_count; i++) {
        *ret_name = config->headers[i].name;
        if (!gbx_http_is_token(config->headers[i].name) ||
            strpbrk(config->headers[i].value, "\r\n") != NULL)
            return false;
    }
    return true;
}

void gbx_http_headers_add_configured(gbx_http_headers *headers,
                                     const gbx_mcp_upstream_config *config)
{
    for (size_t i = 0; i < config->header_count; i++)
        gbx_http_header_add(headers, config->headers[i].name, config->headers[i].value);
}
