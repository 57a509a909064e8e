/* SPDX-License-Identifier: MIT */
/*
 * host_name - the order matters: international names first, since full-width digits and
 * dots become ASCII there; only the result can be checked for addresses.
 */
#include "policy/internal.h"

#include "policy/policy.h"

#include <idn2.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN  253
#define LABEL_MAX_LEN 63

/* Characters that belong to another part of a URL, or to none. */
static const struct foreign {
    const char *characters;
    const char *why;
} foreigners[] = {
    {"@", "a user name cannot be allowed: list the host alone"},
    {"/\\", "a path cannot be allowed: list the host alone"},
    {"?", "a query cannot be allowed: list the host alone"},
    {"#", "a fragment cannot be allowed: list the host alone"},
    {"%", "a host has no escapes, and an address no zone"},
    {" \t\r\n", "a host has no white space"},
    {"*", "'*' stands for whole labels at the beginning: '*.example.org'"},
    {"[]", "brackets are for IPv6 addresses: '[fd00::1]'"},
};

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static gbx_status refuse_foreign(const char *text, size_t len, gbx_error *reterr)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = (uint8_t)text[i];

        for (size_t f = 0; f < sizeof foreigners / sizeof foreigners[0]; f++)
            if (byte != 0 && strchr(foreigners[f].characters, text[i]) != NULL)
                return gbx_refuse(reterr, text, i, "%s", foreigners[f].why);
        if (byte < 0x20 || byte == 0x7F)
            return gbx_refuse(reterr, text, i, "a host has no control characters");
    }
    return GBX_OK;
}

/* True if the name needs IDNA: it is not ASCII, or it is punycode to verify. */
static bool is_international(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((uint8_t)*at >= 0x80 ||
            ((at == text || at[-1] == '.') && strncasecmp(at, "xn--", 4) == 0))
            return true;
    return false;
}

/* Convert text, which ends in NUL, to lower case and ASCII. */
static gbx_status to_ascii(const char *text, char out[GBX_HOST_SIZE], gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    uint8_t *looked_up = NULL;
    bool fits;
    int rc;

    if (!is_international(text)) {
        size_t i = 0;

        for (; text[i] != '\0'; i++)
            out[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
        out[i] = '\0';
        return GBX_OK;
    }
    rc = idn2_lookup_u8((const uint8_t *)text, &looked_up,
                        IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (rc == IDN2_MALLOC)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the policy");
    if (rc != IDN2_OK)
        return gbx_refuse(reterr, text, 0, "'%s' is not an international host name: %s",
                          gbx_quote(quote, text, strlen(text)), idn2_strerror(rc));
    fits = (size_t)snprintf(out, GBX_HOST_SIZE, "%s", (const char *)looked_up) <
           GBX_HOST_SIZE;
    idn2_free(looked_up);
    if (!fits)
        return gbx_refuse(reterr, text, 0, "the host is longer than %d characters",
                          NAME_MAX_LEN);
    return GBX_OK;
}

/* What is wrong with the name's labels, or NULL; counts them. */
static const char *check_labels(const char *name, size_t *ret_count)
{
    size_t count = 0;

    if (strlen(name) > NAME_MAX_LEN)
        return "a host name has at most 253 characters";
    for (const char *at = name;; at++) {
        size_t len = strcspn(at, ".");

        if (len == 0)
            return "a part of the name between two dots is empty";
        if (len > LABEL_MAX_LEN)
            return "a part of a host name has at most 63 characters";
        if (at[0] == '-' || at[len - 1] == '-')
            return "no part of a host name begins or ends with '-'";
        for (size_t i = 0; i < len; i++)
            if (!is_name_byte(at[i]))
                return "a host name has letters, digits, '-' and dots";
        count++;
        at += len;
        if (*at == '\0')
            break;
    }
    *ret_count = count;
    return NULL;
}

static gbx_status parse_v6(const char *text, size_t len, gbx_host *ret,
                           gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    gbx_host host = {.labels = 0};

    if (memchr(text, '%', len) != NULL)
        return gbx_refuse(reterr, text, 0, "a zone cannot be allowed: leave '%%' out");
    if (memchr(text, ':', len) == NULL || !gbx_address_parse(text, len, host.address))
        return gbx_refuse(reterr, text, 0, "'%s' is not an IPv6 address",
                          gbx_quote(quote, text, len));
    gbx_address_print(host.address, host.text);
    if (gbx_address_is_v4(host.address))
        return gbx_refuse(reterr, text, 0, "'%s' is an IPv4 address: write '%s'",
                          gbx_quote(quote, text, len), host.text);
    *ret = host;
    return GBX_OK;
}

static gbx_status parse_v4(const char *text, bool is_address, gbx_host *host,
                           gbx_error *reterr)
{
    char written[GBX_ADDRESS_TEXT_SIZE];
    char quote[GBX_QUOTE_SIZE];

    (void)gbx_quote(quote, text, strlen(text));
    if (!is_address)
        return gbx_refuse(reterr, text, 0,
                          "'%s' ends in a number, and is not an IPv4 address", quote);
    gbx_address_print(host->address, written);
    if (strcmp(written, text) != 0) /* digits of other scripts too */
        return gbx_refuse(reterr, text, 0, "'%s' is the address %s: write it like that",
                          quote, written);
    host->labels = 0;
    return GBX_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_host_parse(const char *text, size_t len, bool is_bracketed,
                          gbx_host *ret, gbx_error *reterr)
{
    char copy[1024]; /* UTF-8: a long name may become short */
    gbx_host host = {.labels = 0};
    const char *wrong;
    bool is_address = false;
    size_t host_len;
    gbx_status status;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the host is missing");
    if (is_bracketed)
        return parse_v6(text, len, ret, reterr);
    status = refuse_foreign(text, len, reterr);
    if (status != GBX_OK)
        return status;
    if (len >= sizeof copy)
        return gbx_refuse(reterr, text, 0, "a host name has at most 253 characters");
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (len >= GBX_HOST_SIZE && !is_international(copy))
        return gbx_refuse(reterr, text, 0, "a host name has at most 253 characters");
    status = to_ascii(copy, host.text, reterr);
    if (status != GBX_OK)
        return status;
    host_len = strlen(host.text);
    if (host_len > 1 && host.text[host_len - 1] == '.')
        host.text[host_len - 1] = '\0';
    wrong = check_labels(host.text, &host.labels);
    if (wrong != NULL)
        return gbx_refuse(reterr, text, 0, "%s", wrong);
    if (gbx_address_any_notation(host.text, host.address, &is_address)) {
        status = parse_v4(copy, is_address, &host, reterr);
        if (status != GBX_OK)
            return status;
    }
    *ret = host;
    return GBX_OK;
}
