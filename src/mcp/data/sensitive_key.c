/* SPDX-License-Identifier: MIT */
/* sensitive_key - see sensitive_key.h. */
#include "mcp/data/sensitive_key.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

#define KEY_MIN    20 /* a shorter mix of letters and digits may be a name of anything */
#define SECRET_MIN 12 /* letters and digits in a row, in what has the prefix of a key */
#define UUID_LEN   36
#define HASH_MIN   20 /* of a password: behind what says how it was made */

static bool has_prefix(const char *s, size_t len)
{
    static const char *const prefixes[] = {
        "sk-",  "sk_",  "pk_",  "rk_",  "ghp_",        "gho_",   "ghs_",
        "ghu_", "xoxb", "xoxp", "xoxa", "github_pat_", "glpat-", "npm_",
        "AKIA", "ASIA", "AIza", "eyJ",  "hf_",         "SG.",
    };

    for (size_t i = 0; i < GBX_COUNTOF(prefixes); i++)
        if (len >= strlen(prefixes[i]) + 8 &&
            strncmp(s, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Letters and digits that no word is: "sk-learn-tutorial" has the prefix, too. */
static bool has_secret(const char *s, size_t len)
{
    size_t row = 0, longest = 0, digits = 0;

    for (size_t i = 0; i < len; i++) {
        row = isalnum((unsigned char)s[i]) ? row + 1 : 0;
        longest = row > longest ? row : longest;
        digits += isdigit((unsigned char)s[i]) != 0;
    }
    return longest >= SECRET_MIN && digits > 0;
}

static bool is_uuid(const char *s, size_t len)
{
    for (size_t i = 0; len == UUID_LEN && i < len; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? s[i] != '-'
                                                    : !isxdigit((unsigned char)s[i]))
            return false;
    return len == UUID_LEN;
}

/* Letters and digits without a word among them. */
static bool is_mix(const char *s, size_t len)
{
    size_t digits = 0, letters = 0, changes = 0;

    if (len < KEY_MIN || is_uuid(s, len))
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];

        if (!isalnum(c) && strchr("_-+/=.", c) == NULL)
            return false;
        digits += isdigit(c) != 0;
        letters += isalpha(c) != 0;
        changes +=
            i > 0 && (isdigit(c) != 0) != (isdigit((unsigned char)s[i - 1]) != 0);
    }
    return digits >= 3 && letters >= 3 && changes >= 4;
}

/* Of a path, /usr/lib/x86_64-linux-gnu/libc.so.6, one part must be such a mix. */
static bool is_random(const char *s, size_t len)
{
    bool is_path = len > 0 && s[0] == '/' && memchr(s + 1, '/', len - 1) != NULL;
    const char *end = s + len;

    if (!is_path || !is_mix(s, len))
        return is_mix(s, len);
    while (s < end) {
        const char *slash = memchr(s, '/', (size_t)(end - s));
        size_t n = (size_t)((slash != NULL ? slash : end) - s);

        if (is_mix(s, n))
            return true;
        s += n + 1;
    }
    return false;
}

/* $2b$12$..., $argon2id$v=19$..., pbkdf2_sha256$600000$...: the hash of a password. */
static bool is_hash(const char *s, size_t len)
{
    size_t at = len > 0 && s[0] == '$', dollars = 0, digits = 0, letters = 0;
    size_t start = at;

    while (at < len && (isalnum((unsigned char)s[at]) || s[at] == '-' || s[at] == '_'))
        at++;
    if (at == start || at == len || s[at] != '$' || len - at < HASH_MIN)
        return false;
    for (at++; at < len; at++) {
        unsigned char c = (unsigned char)s[at];

        if (!isalnum(c) && strchr("$./+=,-_", c) == NULL)
            return false;
        dollars += c == '$';
        digits += isdigit(c) != 0;
        letters += isalpha(c) != 0;
    }
    return dollars > 0 && digits > 0 && letters > 0;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_is_key(const char *s, size_t len)
{
    return has_prefix(s, len) || is_random(s, len) || is_hash(s, len);
}

bool gbx_sensitive_is_marked_key(const char *s, size_t len)
{
    return (has_prefix(s, len) && has_secret(s, len)) || is_hash(s, len);
}
