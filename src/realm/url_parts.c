/* SPDX-License-Identifier: MIT */
/* url_parts - the parts of an address as text: its host in ASCII and lower case, with all
 * spellings of IPv4, and the others; and the whole address again. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "realm/internal.h"
#include "zones/zones.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DOMAIN_MAX GBX_KIB(4)

/* From ICU's uidna.h: check bidirectional text and joiners; keep sharp s distinct
 * from ss. */
#define OPTIONS (0x04 | 0x08 | 0x10 | 0x20)
/* Empty and long labels, and hyphens in them: the standard accepts those. */
#define ERRORS_TAKEN 0x3Fu

typedef struct idna_info {
    int16_t size;
    int8_t unused[2];
    uint32_t errors;
    int32_t reserved[2];
} idna_info;

static struct {
    void *idna;
    int32_t (*to_ascii)(const void *idna, const char *name, int32_t len, char *to,
                        int32_t capacity, idna_info *info, int *error);
} icu;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* ASCII, without a label that begins with xn--: nothing to convert. */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] >= 0x80)
            return false;
        if ((i == 0 || text[i - 1] == '.') && len - i >= 4 && lower(text[i]) == 'x' &&
            lower(text[i + 1]) == 'n' && text[i + 2] == '-' && text[i + 3] == '-')
            return false;
    }
    return true;
}

static bool translate(const gbx_buf *domain, gbx_buf *to)
{
    idna_info info = {.size = sizeof info};
    char *room = (char *)gbx_buf_reserve(to, DOMAIN_MAX);
    int error = 0;
    int32_t len;

    if (icu.to_ascii == NULL || room == NULL || domain->len > DOMAIN_MAX)
        return false;
    len = icu.to_ascii(icu.idna, (const char *)domain->data, (int32_t)domain->len, room,
                       DOMAIN_MAX, &info, &error);
    if (error > 0 || (info.errors & ~ERRORS_TAKEN) != 0 || len <= 0 ||
        len > (int32_t)DOMAIN_MAX)
        return false;
    to->len += (size_t)len;
    return true;
}

/* ---- IPv4 ------------------------------------------------------------------ */

/* Decimal, 0octal or 0xhex; a number of more than 32 bits becomes 2^32. */
static bool read_number(const char *text, size_t len, uint64_t *ret)
{
    unsigned base = 10;

    if (len >= 2 && text[0] == '0' && lower(text[1]) == 'x') {
        base = 16;
        text += 2;
        len -= 2;
    } else if (len >= 2 && text[0] == '0') {
        base = 8;
    }
    *ret = 0;
    for (size_t i = 0; i < len; i++) {
        char c = lower(text[i]);
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;

        if (digit >= base)
            return false;
        *ret = *ret * base + digit;
        if (*ret > UINT32_MAX)
            *ret = (uint64_t)UINT32_MAX + 1;
    }
    return true;
}

static bool ends_in_number(const char *text, size_t len)
{
    const char *dot;
    size_t from;
    uint64_t value;
    bool digits = true;

    if (len > 0 && text[len - 1] == '.')
        len--;
    dot = memrchr(text, '.', len);
    from = dot != NULL ? (size_t)(dot - text) + 1 : 0;
    for (size_t i = from; i < len; i++)
        digits = digits && text[i] >= '0' && text[i] <= '9';
    if (from == len)
        return false;
    return digits ||
           (len - from >= 2 && text[from] == '0' && lower(text[from + 1]) == 'x' &&
            read_number(text + from, len - from, &value));
}

static bool read_ipv4(const char *text, size_t len, uint32_t *ret)
{
    uint64_t parts[4];
    size_t count = 0;
    uint64_t value;

    if (len > 0 && text[len - 1] == '.')
        len--;
    for (size_t from = 0; from <= len; count++) {
        const char *dot = memchr(text + from, '.', len - from);
        size_t end = dot != NULL ? (size_t)(dot - text) : len;

        if (count == 4 || from == end ||
            !read_number(text + from, end - from, &parts[count]))
            return false;
        from = end + 1;
    }
    value = parts[count - 1];
    if (value >= (UINT64_C(1) << (8 * (5 - count))))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        if (parts[i] > 255)
            return false;
        value |= parts[i] << (8 * (3 - i));
    }
    *ret = (uint32_t)value;
    return true;
}

/* ---- the other kinds ------------------------------------------------------------ */

static void put_ipv6(const uint8_t bytes[16], gbx_buf *to)
{
    unsigned pieces[8];
    int best = -1, best_len = 1;

    for (int i = 0; i < 8; i++)
        pieces[i] = (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1];
    for (int i = 0, run = 0; i < 8; i++) {
        run = pieces[i] == 0 ? run + 1 : 0;
        if (run > best_len) {
            best_len = run;
            best = i - run + 1;
        }
    }
    (void)gbx_buf_puts(to, "[");
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            (void)gbx_buf_puts(to, i == 0 ? "::" : ":");
            i += best_len - 1;
            continue;
        }
        (void)gbx_buf_printf(to, i < 7 ? "%x:" : "%x", pieces[i]);
    }
    (void)gbx_buf_puts(to, "]");
}

static bool read_ipv6(const uint8_t *text, size_t len, gbx_buf *to)
{
    char copied[64];
    uint8_t bytes[16];

    if (len < 2 || len - 2 >= sizeof copied || text[len - 1] != ']')
        return false;
    memcpy(copied, text + 1, len - 2);
    copied[len - 2] = 0;
    if (strlen(copied) != len - 2 || inet_pton(AF_INET6, copied, bytes) != 1)
        return false;
    put_ipv6(bytes, to);
    return true;
}

static bool read_opaque_host(const uint8_t *text, size_t len, gbx_buf *to)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == 0 || strchr("\t\n\r #/:<>?@[\\]^|", text[i]) != NULL)
            return false;
        gbx_url_put(to, text[i], GBX_URL_IN_CONTROL);
    }
    return true;
}

static bool read_domain(const uint8_t *text, size_t len, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf bytes = {0}, domain = {0};
    size_t start = to->len;
    uint32_t address;
    char *made;

    gbx_buf_init(&bytes, len);
    gbx_buf_init(&domain, 3 * len + 1);
    gbx_url_undo_percent(text, len, &bytes);
    (void)gbx_utf8_append_lossy(&domain, bytes.data, bytes.len);
    if (domain.len == 0)
        return false;
    if (is_plain((const char *)domain.data, domain.len)) {
        for (size_t i = 0; i < domain.len; i++)
            domain.data[i] = (uint8_t)lower((char)domain.data[i]);
        (void)gbx_buf_append(to, domain.data, domain.len);
    } else if (!translate(&domain, to)) {
        return false;
    }
    made = (char *)to->data + start;
    len = to->len - start;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)made[i] <= 0x20 || made[i] == 0x7F ||
            strchr("#/:<>?@[\\]^|%", made[i]) != NULL)
            return false;
    if (!ends_in_number(made, len))
        return true;
    if (!read_ipv4(made, len, &address))
        return false;
    to->len = start;
    return gbx_buf_printf(to, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                          address >> 8 & 255, address & 255);
}

void gbx_url_learn(void)
{
    void *open = gbx_icu_function("uidna_openUTS46");
    void *to_ascii = gbx_icu_function("uidna_nameToASCII_UTF8");
    void *(*opener)(uint32_t options, int *error);
    int error = 0;

    if (open == NULL || to_ascii == NULL)
        return;
    memcpy(&opener, &open, sizeof open);
    icu.idna = opener(OPTIONS, &error);
    if (error <= 0)
        memcpy(&icu.to_ascii, &to_ascii, sizeof to_ascii);
}

bool gbx_url_host(const uint8_t *text, size_t len, bool is_special, gbx_buf *to)
{
    if (len > 0 && text[0] == '[')
        return read_ipv6(text, len, to);
    return is_special ? read_domain(text, len, to) : read_opaque_host(text, len, to);
}

/* Writes the parts of an address and assembles them. */

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
