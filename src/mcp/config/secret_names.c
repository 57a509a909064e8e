/* SPDX-License-Identifier: MIT */
/*
 * secret_names - finds secrets among the values of env and headers that nobody
 * has declared.
 *
 * It guesses by names. A guess only adds to what is removed from answers; secrets that
 * must be removed for certain are declared under "secrets".
 */
#include "mcp/config/config_reader.h"

#include "base/cleanup.h"
#include "policy/capability_grants.h"
#include "policy/policy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 112

/* Shorter values may be ordinary words. */
#define LONG 16u

static bool is_taken(const gbx_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->secret_count; i++)
        if (strcmp(policy->secrets[i].name, name) == 0)
            return true;
    return false;
}

static bool is_known(const gbx_policy *policy, const char *value, size_t len)
{
    for (size_t i = 0; i < policy->secret_count; i++)
        if (policy->secrets[i].value_len == len &&
            memcmp(policy->secrets[i].value, value, len) == 0)
            return true;
    return false;
}

/* Choose a name that is valid in a reference and that no other secret has. */
static void choose_name(const gbx_policy *policy, const char *from, char out[NAME_SIZE])
{
    char name[80];
    size_t len = 0;

    if (*from >= '0' && *from <= '9')
        name[len++] = '_';
    for (; *from != '\0' && len + 1 < sizeof name; from++)
        name[len++] =
            (char)((*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                           (*from >= '0' && *from <= '9')
                       ? *from
                       : '_');
    name[len] = '\0';
    (void)snprintf(out, NAME_SIZE, "%s", name);
    for (unsigned i = 2; is_taken(policy, out); i++)
        (void)snprintf(out, NAME_SIZE, "%s_%u", name, i);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

static bool is_blank(char c)
{
    return c == ' ' || is_control(c);
}

#define DIGITS  "0123456789"
#define SMALL   "abcdefghijklmnopqrstuvwxyz"
#define CAPITAL "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* "customer_id" does not look like a secret key, and must not be cut out of
 * every answer. */
static bool looks_random(const char *value, size_t len)
{
    return len >= LONG && strcspn(value, DIGITS) < len;
}

/* Looks at the parts between slashes; one with a dot may be a file name. */
static bool has_random_part(const char *path)
{
    while (*path != '\0') {
        size_t len = strcspn(path, "/");

        if (looks_random(path, len) && memchr(path, '.', len) == NULL)
            return true;
        path += len + (path[len] == '/');
    }
    return false;
}

/* "./a", "/a/b", "C:\\a", "https://host/path": a location. Base64 may also begin with a
 * slash; an address with a user or a query may itself be secret. */
static bool is_place(const char *value)
{
    static const char *const beginnings[] = {"./", "../", "~/"};
    const char *colon = strchr(value, ':');
    const char *host = colon != NULL ? colon + 3 : NULL;

    if (*value == '/' && strchr(value + 1, '/') != NULL)
        return !has_random_part(value);
    for (size_t i = 0; i < GBX_COUNTOF(beginnings); i++)
        if (strncmp(value, beginnings[i], strlen(beginnings[i])) == 0)
            return !has_random_part(value);
    if (colon == value + 1 && isalpha((unsigned char)*value))
        return colon[1] == '\\' || colon[1] == '/';
    return colon != NULL && strncmp(colon, "://", 3) == 0 &&
           strchr(host, '?') == NULL &&
           memchr(host, '@', strcspn(host, "/#")) == NULL &&
           !has_random_part(host + strcspn(host, "/"));
}

/* "10000000", "1.5": any data may contain it, and would be damaged. */
static bool is_number(const char *value, size_t len)
{
    return len < LONG && strspn(value, DIGITS ".") == len;
}

/* "postgres", "Password", "CHANGEME": also in any data, and easily guessed. */
static bool is_common_word(const char *value, size_t len)
{
    size_t capital = strspn(value, CAPITAL);

    return len < LONG &&
           (capital == len ||
            (capital <= 1 && capital + strspn(value + capital, SMALL) == len));
}

/* signingKey: a word begins where a capital follows a small letter. */
static bool is_edge(const char *name, const char *at)
{
    return at == name || !isalpha((unsigned char)at[-1]) ||
           !isalpha((unsigned char)*at) ||
           (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
}

/* Where a word must be in a name. */
typedef enum word_place {
    ANYWHERE,
    ENDING, /* a word, or the end of one: AUTHKEY, but not KEYBOARD */
    WHOLE,  /* a whole word: PAT, but not PATH */
    LAST,   /* a whole word, the last one */
} word_place;

static bool has_word(const char *name, const char *word, word_place place)
{
    size_t len = strlen(word);

    for (const char *at = name; (at = strcasestr(at, word)) != NULL; at++)
        if (place == ANYWHERE ||
            (is_edge(name, at + len) && (place == ENDING || is_edge(name, at)) &&
             (place != LAST || at[len] == '\0')))
            return true;
    return false;
}

/* The length of text without blanks at its ends; *text is moved to its beginning. */
static size_t without_blanks(const char **text, size_t len)
{
    while (len > 0 && is_blank(**text)) {
        ++*text;
        len--;
    }
    while (len > 0 && is_blank((*text)[len - 1]))
        len--;
    return len;
}

/* Up to a line end or another character that secrets do not have. */
static size_t line_length(const char *text)
{
    size_t len = 0;

    while (text[len] != '\0' && !is_control(text[len]))
        len++;
    return len;
}

static bool is_password(const char *name)
{
    return has_word(name, "PASSW", ANYWHERE) || has_word(name, "PASS", LAST) ||
           has_word(name, "PWD", LAST);
}

static bool is_ordinary(const char *name, const char *value, size_t len)
{
    return is_number(value, len) || (is_password(name) && is_common_word(value, len));
}

/* Note a password that stays in answers, to warn of it. */
static gbx_status note_weak(gbx_json_reader *r, const char *name)
{
    gbx_mcp_config *config = gbx_mcp_reader_of(r)->config;
    gbx_mcp_upstream_config *server = &config->servers[config->server_count - 1];
    size_t len = strlen(name);

    if (!is_password(name) || gbx_names_find(server->weak, 0, server->weak_count, name,
                                             len) < server->weak_count)
        return GBX_OK;
    return gbx_names_add(&server->weak, &server->weak_count, name, len, r->err);
}

static gbx_status keep(gbx_json_reader *r, gbx_mcp_sound sound, const char *name,
                       const char *value)
{
    gbx_policy *policy = r->policy;
    size_t len = strlen(value);
    gbx_secret *secret;
    char chosen[NAME_SIZE];

    if (len == 0 || len > GBX_SECRET_MAX || is_known(policy, value, len) ||
        (sound < GBX_MCP_CERTAIN && is_place(value)) ||
        (sound == GBX_MCP_PERHAPS && !looks_random(value, len)))
        return GBX_OK;
    if (len < GBX_SECRET_MIN ||
        (sound < GBX_MCP_CERTAIN && is_ordinary(name, value, len)))
        return note_weak(r, name);
    choose_name(policy, name, chosen);
    return gbx_json_placed(r, gbx_grant_secret(policy,
                                               &(gbx_entry){.name = chosen,
                                                            .name_len = strlen(chosen),
                                                            .value = value,
                                                            .value_len = len},
                                               &secret, r->err));
}

/* One of several lines: a long single word has the sound of the whole. Other lines must
 * look like secrets: "-----BEGIN PRIVATE KEY-----" is in every such file. */
static gbx_mcp_sound sound_of_line(gbx_mcp_sound sound, const char *line)
{
    return strlen(line) < LONG || strchr(line, ' ') != NULL ? GBX_MCP_PERHAPS : sound;
}

/* The last word of a name may show that the value only concerns a secret. */
static gbx_mcp_sound sound_of_ending(const char *name)
{
    static const struct {
        const char *word;
        gbx_mcp_sound at_most;
    } endings[] = {
        {"FILE", GBX_MCP_PLAIN},       {"PATH", GBX_MCP_PLAIN},
        {"DIR", GBX_MCP_PLAIN},        {"REGION", GBX_MCP_PLAIN},
        {"NAME", GBX_MCP_PLAIN},       {"TYPE", GBX_MCP_PLAIN},
        {"URL", GBX_MCP_PERHAPS},      {"URI", GBX_MCP_PERHAPS},
        {"ENDPOINT", GBX_MCP_PERHAPS}, {"HEADER", GBX_MCP_PERHAPS},
    };

    for (size_t i = 0; i < GBX_COUNTOF(endings); i++)
        if (has_word(name, endings[i].word, LAST))
            return endings[i].at_most;
    return GBX_MCP_CERTAIN;
}

/* ---- public to other modules -------------------------------------------- */

gbx_mcp_sound gbx_mcp_sounds_secret(const char *name)
{
    static const struct {
        const char *word;
        word_place place;
        gbx_mcp_sound sound;
    } words[] = {
        {"TOKEN", ANYWHERE, GBX_MCP_SECRET},
        {"SECRET", ANYWHERE, GBX_MCP_SECRET},
        {"PASSW", ANYWHERE, GBX_MCP_SECRET},
        {"PASSPHRASE", ANYWHERE, GBX_MCP_SECRET},
        {"PASS", LAST, GBX_MCP_SECRET},
        {"PWD", LAST, GBX_MCP_SECRET},
        {"BEARER", WHOLE, GBX_MCP_SECRET},
        {"CREDENTIAL", ANYWHERE, GBX_MCP_SECRET},
        {"AUTHORIZATION", ANYWHERE, GBX_MCP_CERTAIN},
        {"COOKIE", ANYWHERE, GBX_MCP_SECRET},
        {"API_KEY", ANYWHERE, GBX_MCP_SECRET},
        {"API-KEY", ANYWHERE, GBX_MCP_SECRET},
        {"APIKEY", ANYWHERE, GBX_MCP_SECRET},
        {"PRIVATE_KEY", ANYWHERE, GBX_MCP_SECRET},
        {"KEY", ENDING, GBX_MCP_PERHAPS},
        {"KEYS", ENDING, GBX_MCP_PERHAPS},
        {"PAT", WHOLE, GBX_MCP_PERHAPS},
        {"AUTH", WHOLE, GBX_MCP_PERHAPS},
    };

    gbx_mcp_sound at_most = sound_of_ending(name);

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (has_word(name, words[i].word, words[i].place))
            return words[i].sound < at_most ? words[i].sound : at_most;
    return GBX_MCP_PLAIN;
}

gbx_status gbx_mcp_keep_secret(gbx_json_reader *r, gbx_mcp_sound sound,
                               const char *name, const char *value)
{
    gbx_status status = GBX_OK;
    bool is_whole;
    char *copy;
    size_t len;

    if (sound == GBX_MCP_PLAIN)
        return GBX_OK;
    len = without_blanks(&value, strlen(value));
    copy = strndup(value, len);
    if (copy == NULL)
        return gbx_list_nomem(r->err);
    is_whole = line_length(copy) == len;
    for (char *line = copy; status == GBX_OK && line < copy + len;) {
        const char *kept = line;
        size_t line_len = line_length(line);
        size_t kept_len = without_blanks(&kept, line_len);

        line[kept + kept_len - line] = '\0';
        status = keep(r, is_whole ? sound : sound_of_line(sound, kept), name, kept);
        line += line_len + 1;
    }
    explicit_bzero(copy, len);
    free(copy);
    return status;
}
