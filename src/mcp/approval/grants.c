/* SPDX-License-Identifier: MIT */
/*
 * grants - a person's answers that cover more than one call: those for a run or a
 * session, in memory, and the permanent ones, in a file of our own.
 *
 * An answer covers calls of one tool, and only those that the same rule asks about:
 * another rule asks again. The latest answer counts. A user who can write the file can
 * allow calls, so the file is checked like a configuration.
 */
#include "mcp/approval/gate_call.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "mcp/config/config.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX GBX_MIB(4)

/* Wait for another process that is writing a grant; the loop is blocked meanwhile. */
#define LOCK_MS 100

/* ---- the file ---------------------------------------------------------------- */

struct gbx_grants_file {
    char path[PATH_MAX];
    char config[PATH_MAX]; /* resolved; "": it has no grants */
    gbx_trust trust;
    struct stat read; /* the file's state when it was last read; zeroed: never */
    json_t *root;
    gbx_error err; /* of the last reading */
};

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

/* A missing file has no grants. After an error, the file is read again each time: the
 * fault may be in its folder. */
static gbx_status refresh(gbx_grants_file *g)
{
    struct stat now = {0};
    bool is_seen = stat(g->path, &now) == 0;
    bool is_missing = !is_seen && (errno == ENOENT || errno == ENOTDIR);

    if (is_seen && g->err.status == GBX_OK && gbx_file_is_same(&now, &g->read))
        return GBX_OK;
    json_decref(g->root);
    g->root = NULL;
    g->err = (gbx_error){0};
    g->read = now;
    return is_missing ? GBX_OK : read_file(g);
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
    GBX_CLEANUP(gbx_free) char *text = gbx_need(json_dumps(g->root, JSON_INDENT(2)));
    gbx_status status = gbx_file_replace(g->path, text, strlen(text), NULL, reterr);

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
    status = gbx_file_lock(g->path, wait_ms, lock, reterr);
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

static json_t *load(const char *text)
{
    return gbx_need(json_loads(text, 0, NULL));
}

/* A rule, and the rule that asked; NULL: the default has asked. */
static json_t *pair_of(const char *rule, const char *asked)
{
    return gbx_need(json_pack("{s:o, s:o*}", "rule", load(rule), "asked",
                              asked != NULL ? load(asked) : NULL));
}

static json_t *tools_of(const gbx_grants_file *g, const char *server)
{
    return json_object_get(json_object_get(g->root, g->config), server);
}

static bool denies(const json_t *grant)
{
    return json_is_string(grant) && strcmp(json_string_value(grant), "allow") != 0;
}

/* ---- a run, a session -------------------------------------------------------- */

/* NULL: the default has asked. */
static const char *text_that_asked(const gbx_gate *gate, const gbx_gate_verdict *asked)
{
    return asked->rule != GBX_GATE_NO_RULE
               ? gate->config->rules->items[asked->rule].text
               : NULL;
}

/* NULL: no matching rule is short enough to be shown. */
static char *rule_for(const gbx_gate *gate, const gbx_gate_verdict *asked,
                      const char *server, const char *tool, gbx_view args)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule = {.ceiling = GBX_GATE_RULE_MAX};

    return gbx_gate_rule_for(gate->config->rules, asked, server, tool, args, &rule)
               ? gbx_buf_take_string(&rule, NULL)
               : NULL;
}

/* A digest of what all calls have in common that an answer of this scope covers. False: no
 * such answer can cover the call. */
static bool digest_of(const gbx_tool_call *call, gbx_gate_scope scope,
                      uint8_t ret[GBX_SHA256_SIZE])
{
    bool is_of_run = scope == GBX_GATE_SCOPE_RUN || scope == GBX_GATE_SCOPE_RUN_SAME;
    GBX_CLEANUP(gbx_free)
    char *rule = scope == GBX_GATE_SCOPE_RULE ? gbx_gate_rule_of(call) : NULL;
    gbx_sha256 s;

    /* Without a run's name, the answer covers only this call. */
    if ((is_of_run && call->run[0] == '\0') ||
        (scope == GBX_GATE_SCOPE_RULE && rule == NULL))
        return false;
    gbx_sha256_init(&s);
    gbx_sha256_add(&s, &call->verdict.rule, sizeof call->verdict.rule);
    gbx_sha256_add(&s, &call->up.server, sizeof call->up.server);
    gbx_sha256_add(&s, call->up.tool, strlen(call->up.tool) + 1);
    if (is_of_run)
        gbx_sha256_add(&s, call->run, strlen(call->run) + 1);
    if (scope == GBX_GATE_SCOPE_RUN_SAME)
        gbx_sha256_add(&s, call->args.at, call->args.len);
    if (rule != NULL)
        gbx_sha256_add(&s, rule, strlen(rule));
    gbx_sha256_end(&s, ret);
    return true;
}

gbx_grant gbx_gate_look_up(const gbx_gate *gate, const gbx_tool_call *call)
{
    uint8_t digests[GBX_GATE_SCOPES][GBX_SHA256_SIZE];
    enum { UNKNOWN, NOT_COVERED, COVERED } state[GBX_GATE_SCOPES] = {UNKNOWN};

    for (size_t n = 1; n <= gate->grant_count && n <= GBX_GATE_GRANTS_MAX; n++) {
        const gbx_gate_grant *grant =
            &gate->grants[(gate->grant_count - n) % GBX_GATE_GRANTS_MAX];

        gbx_gate_scope scope = grant->scope;

        if (state[scope] == UNKNOWN)
            state[scope] =
                digest_of(call, scope, digests[scope]) ? COVERED : NOT_COVERED;
        if (state[scope] == COVERED &&
            memcmp(digests[scope], grant->digest, sizeof grant->digest) == 0)
            return grant->is_allowed ? GBX_GRANT_ALLOW : GBX_GRANT_DENY;
    }
    return GBX_GRANT_NONE;
}

void gbx_gate_remember(gbx_gate *gate, const gbx_tool_call *call, gbx_gate_scope scope,
                       bool is_allowed)
{
    gbx_gate_grant grant = {.scope = scope, .is_allowed = is_allowed};

    if (digest_of(call, scope, grant.digest))
        gate->grants[gate->grant_count++ % GBX_GATE_GRANTS_MAX] = grant;
}

char *gbx_gate_rule_of(const gbx_tool_call *call)
{
    return rule_for(call->gate, &call->verdict, call->up.server->name, call->up.tool,
                    call->args);
}

/* Uses the file as gbx_grants_file_find() has read it. */
bool gbx_gate_is_kept(const gbx_gate *gate, const gbx_gate_verdict *asked,
                      const char *server, const char *tool, gbx_view args)
{
    const json_t *pairs = json_object_get(tools_of(gate->standing, server), tool);
    GBX_CLEANUP(gbx_free) char *rule = NULL;
    json_t *pair;
    bool found = false;

    if (json_array_size(pairs) > 0)
        rule = rule_for(gate, asked, server, tool, args);
    if (rule == NULL)
        return false;
    pair = pair_of(rule, text_that_asked(gate, asked));
    for (size_t i = 0; !found && i < json_array_size(pairs); i++)
        found = json_equal(json_array_get(pairs, i), pair);
    json_decref(pair);
    return found;
}

/* Adds it to the tool's other rules. */
gbx_status gbx_gate_keep_rule(gbx_tool_call *call, gbx_error *reterr)
{
    gbx_grants_file *grants = call->gate->standing;
    GBX_CLEANUP(gbx_fd_close) int lock = -1;
    json_t *tools = NULL;
    json_t *pairs;
    gbx_status status =
        open_tools(grants, call->up.server->name, LOCK_MS, &lock, &tools, reterr);

    if (status != GBX_OK)
        return status;
    pairs = json_object_get(tools, call->up.tool);
    if (!json_is_array(pairs)) {
        pairs = json_array();
        (void)json_object_set_new(tools, call->up.tool, pairs);
    }
    (void)json_array_append_new(pairs,
                                pair_of(call->rule,
                                        text_that_asked(call->gate, &call->verdict)));
    return write_file(grants, reterr);
}

gbx_grants_file *gbx_grants_file_new(const char *config, gbx_trust trust)
{
    gbx_grants_file *g = gbx_need(calloc(1, sizeof *g));

    g->trust = trust;
    if (!gbx_file_state_path("grants.json", g->path) || config == NULL ||
        realpath(config, g->config) == NULL)
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
    json_t *tools, *answer;
    const char *name;

    *ret = GBX_GRANT_NONE;
    if (grants->config[0] == '\0')
        return GBX_OK;
    if (refresh(grants) != GBX_OK) {
        *reterr = grants->err;
        return grants->err.status;
    }
    tools = tools_of(grants, server);
    if (json_is_string(json_object_get(tools, tool)))
        *ret = GBX_GRANT_ALLOW;
    /* A person who denies a tool need not know the server's spelling. */
    json_object_foreach(tools, name, answer)
    {
        if (denies(answer) && gbx_names_alike(name, tool))
            *ret = GBX_GRANT_DENY;
    }
    return GBX_OK;
}

gbx_status gbx_grants_file_put(gbx_grants_file *grants, const char *server,
                               const char *tool, gbx_grant grant, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int lock = -1; /* until the file is written */
    json_t *tools = NULL, *answer;
    const char *name;
    void *next;
    gbx_status status =
        open_tools(grants, server, GBX_FILE_LOCK_MS, &lock, &tools, reterr);

    if (status != GBX_OK)
        return status;
    /* Allowing a tool removes the answers for its other spellings: denials cover all. */
    if (grant == GBX_GRANT_ALLOW)
        json_object_foreach_safe(tools, next, name, answer)
        {
            if (denies(answer) && gbx_names_alike(name, tool))
                (void)json_object_del(tools, name);
        }
    if (json_object_set_new(tools, tool,
                            json_string(grant == GBX_GRANT_ALLOW ? "allow" : "deny")) !=
        0)
        return gbx_fail(reterr, GBX_E_USAGE, "the name of the tool is not text");
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
