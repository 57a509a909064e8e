/* SPDX-License-Identifier: MIT */
/* variables - ${VAR} in texts of a configuration, and files of variables. Values never
 * appear in messages. */
#include "mcp/config/config.h"

#include "base/cleanup.h"
#include "mcp/config/config_reader.h"
#include "policy/policy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 128

typedef struct reference {
    char name[NAME_MAX_LEN + 1];
    const char *otherwise; /* the default, or NULL */
    size_t otherwise_len;
    size_t len; /* with "${" and "}" */
} reference;

/* Parse the reference at text, which begins with "${"; false if its form is unknown. */
static bool take(const char *text, reference *ret)
{
    const char *name = text + 2;
    const char *at;
    size_t len;

    if (strncmp(name, "env:", 4) == 0)
        name += 4;
    len = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                       "0123456789");
    at = name + len;
    if (len == 0 || len > NAME_MAX_LEN || (*name >= '0' && *name <= '9'))
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
                            "${VAR}",
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

gbx_status gbx_variables_fill(const char *text, gbx_variable_fn used, void *user,
                              char **ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf buf = {.ceiling = GBX_MCP_TEXT_MAX, .is_secret = true};
    gbx_status status = GBX_OK;

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
    if (status == GBX_OK)
        *ret = gbx_need(gbx_buf_take_string(&buf, NULL));
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
    return gbx_need(gbx_buf_take_string(&text, NULL));
}

/* ---- files of variables --------------------------------------------------------- */

/*
 * "envFile" of a server: variables from a file like .env, in the
 * format of editors.
 *
 *     export NAME=value # comment
 *     OTHER: "two\nlines"
 */

#define FILE_MAX      GBX_MIB(1)
#define VARIABLES_MAX 1000

/* In place. */
static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t\r\n");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]) != NULL)
        text[--len] = '\0';
    return text;
}

/* The first of these characters outside quotes, or the end. */
static char *find_bare(char *text, const char *any)
{
    char quote = '\0';

    for (; *text != '\0'; text++) {
        if (quote != '\0')
            quote = *text == quote && text[-1] != '\\' ? '\0' : quote;
        else if (strchr("\"'`", *text) != NULL)
            quote = *text;
        else if (strchr(any, *text) != NULL)
            break;
    }
    return text;
}

/* In place: remove the quotes, and turn \n into line ends in double quotes. */
static char *unquote(char *text)
{
    size_t len = strlen(text);
    char *from = text + 1;
    char *to = from;

    if (len < 2 || strchr("\"'`", text[0]) == NULL || text[len - 1] != text[0])
        return text;
    text[len - 1] = '\0';
    for (; *from != '\0'; from++) {
        bool ends_line =
            text[0] == '"' && from[0] == '\\' && (from[1] == 'n' || from[1] == 'r');

        *to++ = (char)(!ends_line ? *from : from[1] == 'n' ? '\n' : '\r');
        from += ends_line;
    }
    *to = '\0';
    return text + 1;
}

static bool has_name(const gbx_mcp_upstream_config *server, size_t count,
                     const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(server->env[i].name, name) == 0)
            return true;
    return false;
}

/* The first `own` variables come from "env" and have priority; if the file has a name
 * twice, the last one counts. */
static gbx_status take_line(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                            size_t own, char *line)
{
    char *name = trim(line);
    char *end;
    char *value;
    gbx_mcp_variable *room;

    if (strncmp(name, "export ", 7) == 0)
        name = trim(name + 7);
    end = find_bare(name, "=:");
    if (*name == '#' || *end == '\0')
        return GBX_OK;
    *end = '\0';
    value = trim(end + 1);
    *find_bare(value, "#") = '\0';
    value = unquote(trim(value));
    name = trim(name);
    if (*name == '\0' || strchr(name, '=') != NULL || has_name(server, own, name))
        return GBX_OK;
    if (server->env_count == VARIABLES_MAX)
        return gbx_json_refuse(r, "there are more than %d variables in the file",
                               VARIABLES_MAX);
    room = gbx_need(gbx_list_room(&server->env, server->env_count, sizeof *room));
    *room = (gbx_mcp_variable){gbx_need(strdup(name)), gbx_need(strdup(value))};
    server->env_count++;
    return GBX_OK;
}

gbx_status gbx_mcp_read_env_file(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                                 const char *path)
{
    const gbx_trusted_file file = {path, "the file of variables ",
                                   O_RDONLY | O_NONBLOCK,
                                   gbx_mcp_reader_of(r)->config->trust, false};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    size_t own = server->env_count;
    gbx_status status = GBX_OK;
    gbx_error err = {0};
    char *line;
    char *rest;

    if (gbx_trusted_file_read(&file, FILE_MAX, &text, NULL, NULL, &err) != GBX_OK)
        return gbx_json_refuse(r, "%s", err.message);
    if (memchr(text.data, 0, text.len) != NULL)
        return gbx_json_refuse(r, "the file of variables '%s' has a NUL byte", path);
    (void)gbx_need(gbx_buf_append(&text, "", 1) ? text.data : NULL);
    rest = (char *)text.data;
    while (status == GBX_OK && (line = strsep(&rest, "\n")) != NULL)
        status = take_line(r, server, own, line);
    return status;
}
