/* SPDX-License-Identifier: MIT */
/* grants_file - see grants_file.h. Whoever can write the file decides, so it is checked
 * like a configuration. */
#include "mcp/approval/grants_file.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "policy/policy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX GBX_MIB(4)

struct gbx_grants_file {
    char path[PATH_MAX];
    char config[PATH_MAX]; /* resolved; "": it has no grants */
    gbx_trust trust;
    struct stat read; /* of the file when it was last read; zeroed: never */
    json_t *root;
    gbx_error err; /* of the last reading */
};

/* False: no home directory. */
static bool print_path(char path[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int n = -1;

    if (state != NULL && state[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/glovebox/grants.json", state);
    else if (home != NULL && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.local/state/glovebox/grants.json", home);
    if (n > 0 && n < PATH_MAX)
        return true;
    path[0] = '\0';
    return false;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_uid == b->st_uid && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static gbx_status read_file(gbx_grants_file *g)
{
    const gbx_trusted_file file = {g->path, "the grants ", O_RDONLY | O_NONBLOCK,
                                   g->trust, false};
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    json_error_t e;
    gbx_status status = gbx_trusted_file_open(&file, &fd, NULL, &g->err);

    if (status != GBX_OK)
        return status;
    if (g->read.st_size > (off_t)FILE_MAX || !S_ISREG(g->read.st_mode))
        return gbx_fail(&g->err, GBX_E_DATA, "the grants '%s' are not a file of ours",
                        g->path);
    g->root = json_loadfd(fd, JSON_REJECT_DUPLICATES, &e);
    return json_is_object(g->root)
               ? GBX_OK
               : gbx_fail(
                     &g->err, GBX_E_DATA,
                     "the grants '%s' are not a JSON object: repair line %d, or remove the "
                     "file",
                     g->path, e.line);
}

/* A missing file has no grants. A failed file is always read again: the fault may be
 * in its folder. */
static gbx_status refresh(gbx_grants_file *g)
{
    struct stat now = {0};
    bool is_there = stat(g->path, &now) == 0 || (errno != ENOENT && errno != ENOTDIR);

    if (is_there && g->err.status == GBX_OK && is_same(&now, &g->read))
        return GBX_OK;
    json_decref(g->root);
    g->root = NULL;
    g->err = (gbx_error){0};
    g->read = now;
    return is_there ? read_file(g) : GBX_OK;
}

/* The member object of that name, created if need be. */
static json_t *enter(json_t *object, const char *name)
{
    json_t *inner = json_object_get(object, name);

    if (json_is_object(inner))
        return inner;
    inner = json_object();
    return json_object_set_new(object, name, inner) == 0 ? inner : NULL;
}

static gbx_status write_file(gbx_grants_file *g, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_json_text(g->root, JSON_INDENT(2));
    gbx_status status =
        text == NULL ? gbx_fail(reterr, GBX_E_NOMEM, "no memory for the grants")
                     : gbx_file_replace(g->path, text, strlen(text), 0, NULL, reterr);

    if (status != GBX_OK)
        g->read = (struct stat){0}; /* memory differs from the file */
    return status;
}

/* Read the tools of a server from the file and lock it: others can change it only after
 * *lock is closed. */
static gbx_status open_tools(gbx_grants_file *g, const char *server, int wait_ms,
                             int *lock, json_t **ret, gbx_error *reterr)
{
    gbx_status status;

    if (g->config[0] == '\0')
        return gbx_fail(reterr, GBX_E_USAGE,
                        "no home directory to keep grants in, or the "
                        "configuration is not a file");
    gbx_file_make_folders(g->path);
    status = gbx_file_lock_folder(g->path, wait_ms, lock, reterr);
    if (status == GBX_OK && refresh(g) != GBX_OK) {
        *reterr = g->err;
        status = g->err.status;
    }
    if (status != GBX_OK)
        return status;
    if (g->root == NULL)
        g->root = json_object();
    *ret = enter(enter(g->root, g->config), server);
    return GBX_OK;
}

/* A rule, and the rule that asked; NULL: memory is out. */
static json_t *pair_of(const char *rule, const char *asked)
{
    json_t *pair = json_object();

    if (json_object_set_new(pair, "rule", json_loads(rule, 0, NULL)) == 0 &&
        (asked == NULL ||
         json_object_set_new(pair, "asked", json_loads(asked, 0, NULL)) == 0))
        return pair;
    json_decref(pair);
    return NULL;
}

static const json_t *grant_of(const gbx_grants_file *g, const char *server,
                              const char *tool)
{
    return json_object_get(json_object_get(json_object_get(g->root, g->config), server),
                           tool);
}

/* The next letter or digit, in lower case; 0 at the end. Non-ASCII bytes are
 * letters. */
static int next_of_name(const char **at)
{
    while (**at > 0 && !isalnum((unsigned char)**at))
        (*at)++;
    return **at == 0 ? 0 : tolower((unsigned char)*(*at)++);
}

/* Tools can be called by other spellings: createIssue for create_issue. */
static bool is_alike(const char *a, const char *b)
{
    int c;

    do {
        c = next_of_name(&a);
        if (c != next_of_name(&b))
            return false;
    } while (c != 0);
    return true;
}

/* A person who denies a tool need not know the server's spelling. */
static bool is_denied(const json_t *tools, const char *tool)
{
    for (void *at = json_object_iter((json_t *)(uintptr_t)tools); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)tools, at)) {
        const char *grant = json_string_value(json_object_iter_value(at));

        if (grant != NULL && strcmp(grant, "allow") != 0 &&
            is_alike(json_object_iter_key(at), tool))
            return true;
    }
    return false;
}

/* Allowing a tool removes denials of its other spellings. */
static void drop_denials(json_t *tools, const char *tool)
{
    const char *name;
    json_t *grant;
    void *next;

    json_object_foreach_safe(tools, next, name, grant) if (json_is_string(grant) &&
                                                           is_alike(name, tool))(void)
        json_object_del(tools, name);
}

/* ---- public to other modules -------------------------------------------- */

gbx_grants_file *gbx_grants_file_new(const char *config, gbx_trust trust)
{
    gbx_grants_file *g = calloc(1, sizeof *g);

    if (g == NULL)
        return NULL;
    g->trust = trust;
    if (!print_path(g->path) || config == NULL || realpath(config, g->config) == NULL)
        g->config[0] = '\0';
    return g;
}

void gbx_grants_file_free(gbx_grants_file *grants)
{
    if (grants == NULL)
        return;
    json_decref(grants->root);
    free(grants);
}

gbx_status gbx_grants_file_find(gbx_grants_file *grants, const char *server,
                                const char *tool, gbx_grant *ret, gbx_error *reterr)
{
    const json_t *tools;
    const char *grant;

    *ret = GBX_GRANT_NONE;
    if (grants->config[0] == '\0')
        return GBX_OK;
    if (refresh(grants) != GBX_OK) {
        *reterr = grants->err;
        return grants->err.status;
    }
    tools = json_object_get(json_object_get(grants->root, grants->config), server);
    grant = json_string_value(json_object_get(tools, tool));
    if (is_denied(tools, tool))
        *ret = GBX_GRANT_DENY;
    else if (grant != NULL)
        *ret = GBX_GRANT_ALLOW;
    return GBX_OK;
}

bool gbx_grants_file_covers(const gbx_grants_file *grants, const char *server,
                            const char *tool, const char *rule, const char *asked)
{
    const json_t *pairs = grant_of(grants, server, tool);
    json_t *pair = json_array_size(pairs) > 0 ? pair_of(rule, asked) : NULL;
    bool found = false;

    for (size_t i = 0; pair != NULL && !found && i < json_array_size(pairs); i++)
        found = json_equal(json_array_get(pairs, i), pair);
    json_decref(pair);
    return found;
}

gbx_status gbx_grants_file_put(gbx_grants_file *grants, const char *server,
                               const char *tool, gbx_grant grant, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int lock = -1; /* others read what we write */
    json_t *tools;
    gbx_status status =
        open_tools(grants, server, GBX_FILE_LOCK_MS, &lock, &tools, reterr);

    if (status != GBX_OK)
        return status;
    if (grant == GBX_GRANT_ALLOW)
        drop_denials(tools, tool);
    if (json_object_set_new(tools, tool,
                            json_string(grant == GBX_GRANT_ALLOW ? "allow" : "deny")) !=
        0)
        return gbx_fail(reterr, GBX_E_USAGE, "the name of the tool is not text");
    return write_file(grants, reterr);
}

gbx_status gbx_grants_file_add(gbx_grants_file *grants, const char *server,
                               const char *tool, const char *rule, const char *asked,
                               int wait_ms, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int lock = -1;
    json_t *tools;
    json_t *pairs;
    gbx_status status = open_tools(grants, server, wait_ms, &lock, &tools, reterr);

    if (status != GBX_OK)
        return status;
    pairs = json_object_get(tools, tool);
    if (!json_is_array(pairs)) {
        pairs = json_array();
        (void)json_object_set_new(tools, tool, pairs);
    }
    if (json_array_append_new(pairs, pair_of(rule, asked)) != 0)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the grants");
    return write_file(grants, reterr);
}

bool gbx_grants_file_is_open(const gbx_grants_file *grants)
{
    return grants->config[0] != '\0';
}

const char *gbx_grants_file_path(const gbx_grants_file *grants)
{
    return grants->path;
}
