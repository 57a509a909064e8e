/* SPDX-License-Identifier: MIT */
/* policy_lists - the arrays of a policy, and the refusal of an entry. */
#include "policy/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fail.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *gbx_list_room(void *pointer_to_list, size_t count, size_t item_size)
{
    void *old;
    void *list;

    memcpy(&old, pointer_to_list, sizeof old);
    list = reallocarray(old, count + 1, item_size);
    if (list == NULL)
        return NULL;
    memcpy(pointer_to_list, &list, sizeof list);
    return memset((char *)list + count * item_size, 0, item_size);
}

gbx_status gbx_list_check(size_t count, const char *what, gbx_error *reterr)
{
    if (count < GBX_POLICY_LIST_MAX)
        return GBX_OK;
    return gbx_fail_at(reterr, GBX_E_POLICY, 1, 1, "there are more than %d %s",
                       GBX_POLICY_LIST_MAX, what);
}

gbx_status gbx_list_nomem(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the policy");
}

gbx_status gbx_names_add(char ***names, size_t *count, const char *text, size_t len,
                         gbx_error *reterr)
{
    char **item = gbx_list_room(names, *count, sizeof *item);

    if (item != NULL)
        *item = strndup(text, len);
    if (item == NULL || *item == NULL)
        return gbx_list_nomem(reterr);
    ++*count;
    return GBX_OK;
}

size_t gbx_names_find(char *const *names, size_t from, size_t count, const char *text,
                      size_t len)
{
    for (size_t i = from; i < count; i++)
        if (strlen(names[i]) == len && memcmp(names[i], text, len) == 0)
            return i;
    return count;
}

void gbx_names_cut(char **names, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++)
        free(names[i]);
}

void gbx_names_free(char **names, size_t count)
{
    gbx_names_cut(names, 0, count);
    free(names);
}

void gbx_sites_cut(gbx_site *sites, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++)
        free(sites[i].host);
}

void gbx_pairs_cut(gbx_pair *pairs, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++) {
        free(pairs[i].name);
        /* It may be a credential, and its memory will be reused. */
        if (pairs[i].value != NULL)
            explicit_bzero(pairs[i].value, pairs[i].value_len);
        free(pairs[i].value);
    }
}

void gbx_secrets_cut(gbx_secret *secrets, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++) {
        free(secrets[i].name);
        gbx_secret_memory_free(secrets[i].value, secrets[i].value_len + 1);
        gbx_sites_cut(secrets[i].sites, 0, secrets[i].site_count);
        free(secrets[i].sites);
        gbx_names_free(secrets[i].functions, secrets[i].function_count);
    }
}

void gbx_roots_cut(gbx_file_policy *file, size_t from)
{
    for (size_t i = from; i < file->root_count; i++) {
        gbx_fd_close(&file->roots[i].fd);
        free(file->roots[i].path);
        free(file->roots[i].name);
    }
    file->root_count = from < file->root_count ? from : file->root_count;
}

/* ---- names ------------------------------------------------------------------- */

size_t gbx_name_length(const char *text, size_t len)
{
    size_t n = 0;

    for (; n < len; n++) {
        char c = text[n];
        bool is_letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';

        if (!is_letter && !(n > 0 && c >= '0' && c <= '9'))
            break;
    }
    return n;
}

static bool names(const char *pattern, const char *name)
{
    size_t len = strlen(pattern);

    if (len == 0 || pattern[len - 1] != '*')
        return strcmp(pattern, name) == 0;
    /* "db.*": the dot stays in the comparison, so that "dbx" is not below "db". */
    return strncmp(pattern, name, len - 1) == 0 && name[len - 1] != '\0';
}

bool gbx_names_function(char *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names(patterns[i], name))
            return true;
    return false;
}

/* ---- refusals ---------------------------------------------------------------- */

#define CUT "..."

static uint32_t column_of(const char *text, size_t offset)
{
    uint32_t line;
    uint32_t column;

    gbx_utf8_position(text, offset, offset, &line, &column);
    return column;
}

const char *gbx_quote(char out[GBX_QUOTE_SIZE], const char *text, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = GBX_QUOTE_SIZE - sizeof CUT};
    size_t at = 0;

    while (at < len) {
        size_t n = gbx_utf8_sequence((const uint8_t *)text + at, len - at);

        n = n == 0 ? 1 : n;
        if (!gbx_utf8_append_escaped(&buf, text + at, n, GBX_ESCAPE_LINE))
            break;
        at += n;
    }
    (void)snprintf(out, GBX_QUOTE_SIZE, "%.*s%s", (int)buf.len,
                   buf.data != NULL ? (const char *)buf.data : "", at < len ? CUT : "");
    return out;
}

gbx_status gbx_refuse(gbx_error *reterr, const char *text, size_t offset,
                      const char *format, ...)
{
    char message[GBX_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return gbx_fail_at(reterr, GBX_E_POLICY, 1, column_of(text, offset), "%s", message);
}

gbx_status gbx_refuse_twice(gbx_error *reterr, const char *text, size_t len)
{
    char quote[GBX_QUOTE_SIZE];

    return gbx_refuse(reterr, text, 0, "'%s' is listed twice: leave one out",
                      gbx_quote(quote, text, len));
}

void gbx_refused_within(gbx_error *err, const char *text, size_t offset)
{
    if (err->column > 0)
        err->column += column_of(text, offset) - 1;
}
