/* SPDX-License-Identifier: MIT */
/* nats_url - the address of a server: see remote.h. */
#include "remote/remote.h"

#include "base/cleanup.h"
#include "base/fail.h"

#include <string.h>

#define TOKEN_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define TOKEN_MAX   32

static const struct {
    const char *name;
    size_t offset; /* of its pointer in gbx_remote_url */
} parameters[] = {
    {"pool", offsetof(gbx_remote_url, pool)},
    {"creds", offsetof(gbx_remote_url, creds)},
    {"nkey", offsetof(gbx_remote_url, nkey)},
    {"tls-ca", offsetof(gbx_remote_url, tls_ca)},
};

static bool take_parameter(gbx_remote_url *url, char *text)
{
    char *value = strchr(text, '=');

    if (value == NULL || value[1] == '\0')
        return false;
    *value++ = '\0';
    for (size_t i = 0; i < GBX_COUNTOF(parameters); i++)
        if (strcmp(text, parameters[i].name) == 0) {
            memcpy((char *)url + parameters[i].offset, &value, sizeof value);
            return true;
        }
    return false;
}

gbx_status gbx_remote_url_parse(const char *text, gbx_remote_url *ret,
                                gbx_error *reterr)
{
    size_t len = strlen(text);
    char *rest = ret->text;
    char *piece;

    *ret = (gbx_remote_url){.pool = "main"};
    if (len >= sizeof ret->text)
        return gbx_fail(reterr, GBX_E_USAGE, "the address of the server is too long");
    memcpy(ret->text, text, len);
    ret->server = strsep(&rest, "?");
    if ((strncmp(text, "nats://", 7) != 0 && strncmp(text, "tls://", 6) != 0) ||
        strpbrk(strchr(ret->server, ':') + 3, "/, \t\r\n") != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the address of the server is nats://HOST:PORT or "
                        "tls://HOST:PORT");
    while ((piece = strsep(&rest, "&")) != NULL)
        if (*piece != '\0' && !take_parameter(ret, piece))
            return gbx_fail(
                reterr, GBX_E_USAGE,
                "the address of the server takes pool, creds, nkey and tls-ca, "
                "each with '=' and a value, and '&' between them");
    len = strspn(ret->pool, TOKEN_CHARS);
    if (len == 0 || len > TOKEN_MAX || ret->pool[len] != '\0')
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a pool is 1 to 32 of the characters a-z, 0-9 and -");
    if (ret->creds != NULL && ret->nkey != NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "creds and nkey do not go together");
    return GBX_OK;
}

void gbx_remote_url_put(gbx_buf *to, const char *name, const char *value)
{
    if (value != NULL)
        (void)gbx_buf_printf(to, "%c%s=%s",
                             memchr(to->data, '?', to->len) == NULL ? '?' : '&', name,
                             value);
}
