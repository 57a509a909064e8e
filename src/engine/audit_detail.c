/* SPDX-License-Identifier: MIT */
/* audit_detail - the target of a request, for the log. A URL is cut as text: it may not
 * parse. */
#include "engine/audit.h"

#include "base/cleanup.h"
#include "base/json_view.h"
#include "fetch/fetch.h"
#include "policy/policy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Remove user, password, query and fragment in place. */
static void strip_url(char *url)
{
    char *host = url;
    char *at;

    url[strcspn(url, "?#")] = 0;
    while (isalnum((unsigned char)*host) || *host == '+' || *host == '-' ||
           *host == '.')
        host++;
    host = *host == ':' ? host + 1 : url;
    host += strspn(host, "/\\");
    at = memrchr(host, '@', strcspn(host, "/\\"));
    if (at != NULL)
        memmove(host, at + 1, strlen(at + 1) + 1);
}

/* Copy bytes as NUL-terminated text, cut to size. A NUL inside becomes \1, so that it
 * does not hide the rest. */
static void put_text(char *to, size_t size, const uint8_t *data, size_t len)
{
    size_t n = len < size - 1 ? len : size - 1;

    for (size_t i = 0; i < n; i++)
        to[i] = (char)(data[i] != 0 ? data[i] : 1);
    to[n] = 0;
}

/* The whole text of a value, to be cut by the caller; free() it. NULL if memory is
 * out. */
static char *text_of(gbx_view view)
{
    gbx_buf buf = {.ceiling = view.len + 1};
    size_t len;
    char *text;

    (void)gbx_view_append_text(view, &buf);
    text = gbx_buf_take_string(&buf, &len);
    for (size_t i = 0; text != NULL && i < len; i++)
        if (text[i] == 0)
            text[i] = 1;
    return text;
}

/* Copy text without secrets: a server may return them in the target of a redirect. */
static void put_stripped(const gbx_policy *policy, char *to, size_t size,
                         const char *text)
{
    gbx_span from = gbx_span_of(text);
    bool changed = false;
    gbx_buf out;

    gbx_buf_init(&out, gbx_secrets_ceiling(from.len));
    if (!gbx_secrets_strip(policy, GBX_SECRET_LINE, from, NULL, &out, &changed))
        put_text(to, size, (const uint8_t *)"", 0);
    else if (changed)
        put_text(to, size, out.data, out.len);
    else
        put_text(to, size, from.data, from.len);
    gbx_buf_cleanup(&out);
}

gbx_audit_detail *gbx_audit_detail_new(const char *name, const gbx_msg_hostcall *msg)
{
    bool is_fetch = strcmp(name, "fetch") == 0;
    gbx_audit_detail *note = calloc(1, sizeof *note);
    gbx_view args = {0};
    gbx_view key, target = {0}; /* the first argument */
    size_t cursor = 0;
    char *text;

    if (note == NULL)
        return NULL;
    if (*name == 0) {
        put_text(note->function, sizeof note->function, msg->name.data, msg->name.len);
        return note;
    }
    if (gbx_view_open((const char *)msg->args.data, msg->args.len, &args))
        (void)gbx_view_next(args, &cursor, &key, &target);
    text = text_of(is_fetch ? gbx_view_member(target, "url") : target);
    if (text != NULL && is_fetch)
        strip_url(text);
    if (text != NULL)
        put_text(note->target, sizeof note->target, (const uint8_t *)text,
                 strlen(text));
    free(text);
    return note;
}

void gbx_audit_detail_fetch(gbx_audit_detail *note, const gbx_policy *policy,
                            const gbx_fetch_report *report)
{
    char *url = *report->url != 0 ? strdup(report->url) : NULL;

    if (url != NULL) {
        strip_url(url);
        put_stripped(policy, note->target, sizeof note->target, url);
    }
    free(url);
    put_stripped(policy, note->method, sizeof note->method, report->method);
    put_stripped(policy, note->address, sizeof note->address, report->address);
    put_stripped(policy, note->detail, sizeof note->detail, report->detail);
    note->status = report->status;
    note->hops = report->hops;
}
