/* SPDX-License-Identifier: MIT */
/*
 * env_file - "envFile" of a server: variables from a file like .env, in the
 * format of editors.
 *
 *     export NAME=value # comment
 *     OTHER: "two\nlines"
 */
#include "mcp/config/config_reader.h"

#include "base/cleanup.h"
#include "policy/policy.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX      ((off_t)1 << 20)
#define VARIABLES_MAX 1000

static void release_file(FILE **file)
{
    if (*file != NULL)
        (void)fclose(*file);
}

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
    room = gbx_list_room(&server->env, server->env_count, sizeof *room);
    if (room == NULL)
        return gbx_list_nomem(r->err);
    *room = (gbx_mcp_variable){strdup(name), strdup(value)};
    server->env_count++;
    return room->name != NULL && room->value != NULL ? GBX_OK : gbx_list_nomem(r->err);
}

static gbx_status open_file(gbx_json_reader *r, const char *path, FILE **ret)
{
    const gbx_trusted_file file = {path, "the file of variables ",
                                   O_RDONLY | O_NONBLOCK,
                                   gbx_mcp_reader_of(r)->config->trust, false};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_error err = {0};
    struct stat st;

    if (gbx_trusted_file_open(&file, &fd, NULL, &err) != GBX_OK)
        return gbx_json_refuse(r, "%s", err.message);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return gbx_json_refuse(r, "'%s' is not a file of at most 1 MiB", path);
    *ret = fdopen(fd, "r");
    if (*ret == NULL)
        return gbx_list_nomem(r->err);
    fd = -1;
    return GBX_OK;
}

/* ---- for the other parts ---------------------------------------------------- */

gbx_status gbx_mcp_read_env_file(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                                 const char *path)
{
    GBX_CLEANUP(release_file) FILE *file = NULL;
    size_t own = server->env_count;
    char *line = NULL;
    size_t size = 0;
    gbx_status status = open_file(r, path, &file);

    while (status == GBX_OK && getline(&line, &size, file) >= 0)
        status = take_line(r, server, own, line);
    if (line != NULL)
        explicit_bzero(line, size);
    free(line);
    return status;
}
