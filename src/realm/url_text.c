/* SPDX-License-Identifier: MIT */
/* url_text - writes the parts of an address and assembles them. */
#include "realm/internal.h"

#include <string.h>

static gbx_buf *part_of(gbx_parsed_url *url, size_t i)
{
    gbx_buf *const parts[] = {&url->scheme, &url->username, &url->password, &url->host,
                              &url->path,   &url->query,    &url->fragment};

    return i < GBX_COUNTOF(parts) ? parts[i] : NULL;
}

static int hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- public to other files of this folder ----------------------------------- */

void gbx_url_init(gbx_parsed_url *url)
{
    *url = (gbx_parsed_url){.port = -1};
    for (size_t i = 0; part_of(url, i) != NULL; i++)
        gbx_buf_init(part_of(url, i), GBX_URL_TEXT_MAX);
}

void gbx_url_cleanup(gbx_parsed_url *url)
{
    for (size_t i = 0; part_of(url, i) != NULL; i++)
        gbx_buf_cleanup(part_of(url, i));
}

void gbx_url_put(gbx_buf *to, int c, gbx_url_in which)
{
    static const char *const sets[] = {
        [GBX_URL_IN_CONTROL] = "",
        [GBX_URL_IN_FRAGMENT] = " \"<>`",
        [GBX_URL_IN_QUERY] = " \"#<>",
        [GBX_URL_IN_SPECIAL_QUERY] = " \"#<>'",
        [GBX_URL_IN_PATH] = " \"#<>?^`{}",
        [GBX_URL_IN_USERINFO] = " \"#<>?^`{}/:;=@[\\]|",
    };
    char byte = (char)c;

    if (c < 0x20 || c > 0x7E || strchr(sets[which], c) != NULL)
        (void)gbx_buf_printf(to, "%%%02X", (unsigned)c);
    else
        (void)gbx_buf_append(to, &byte, 1);
}

void gbx_url_undo_percent(const uint8_t *text, size_t len, gbx_buf *to)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = text[i];

        if (byte == '%' && len - i > 2 && hex(text[i + 1]) >= 0 &&
            hex(text[i + 2]) >= 0) {
            byte = (uint8_t)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
            i += 2;
        }
        (void)gbx_buf_append(to, &byte, 1);
    }
}

void gbx_url_write(const gbx_parsed_url *url, gbx_buf *to)
{
    (void)gbx_buf_append(to, url->scheme.data, url->scheme.len);
    (void)gbx_buf_puts(to, ":");
    if (url->has_host) {
        (void)gbx_buf_puts(to, "//");
        (void)gbx_buf_append(to, url->username.data, url->username.len);
        if (url->password.len > 0)
            (void)gbx_buf_puts(to, ":");
        (void)gbx_buf_append(to, url->password.data, url->password.len);
        if ((url->username.len > 0 || url->password.len > 0))
            (void)gbx_buf_puts(to, "@");
        (void)gbx_buf_append(to, url->host.data, url->host.len);
        if (url->port >= 0)
            (void)gbx_buf_printf(to, ":%d", (int)url->port);
    } else if (!url->is_opaque && url->path.len > 1 && url->path.data[1] == '/') {
        (void)gbx_buf_puts(to, "/."); /* else the path would be read as a host */
    }
    (void)gbx_buf_append(to, url->path.data, url->path.len);
    if (url->has_query)
        (void)gbx_buf_puts(to, "?");
    (void)gbx_buf_append(to, url->query.data, url->query.len);
    if (url->has_fragment)
        (void)gbx_buf_puts(to, "#");
    (void)gbx_buf_append(to, url->fragment.data, url->fragment.len);
}
