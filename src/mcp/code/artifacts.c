/* SPDX-License-Identifier: MIT */
/*
 * artifacts - the store of data too long to show, and the excerpts shown instead. The
 * store is a list from the oldest to the newest; all have the same lifetime.
 */
#include "mcp/code/code.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <event2/http.h>

#define NAME_BYTES 200

char *gbx_copy_bytes(const void *data, size_t len)
{
    char *made = gbx_need(malloc(len + 1));

    if (len > 0)
        memcpy(made, data, len);
    made[len] = 0;
    return made;
}

struct gbx_artifacts {
    uint64_t max_bytes;
    int64_t keep_ns;
    uint64_t bytes;
    uint64_t last; /* number of the newest */
    uint32_t salt; /* keeps URIs of an earlier process from matching */
    STAILQ_HEAD(, gbx_artifact) all; /* the oldest first */
};

/* Small artifacts need more memory than their data, so count their overhead. */
static uint64_t cost_of(size_t len)
{
    return (uint64_t)len + sizeof(gbx_artifact) + NAME_BYTES;
}

static void drop_oldest(gbx_artifacts *store)
{
    gbx_artifact *gone = STAILQ_FIRST(&store->all);

    STAILQ_REMOVE_HEAD(&store->all, in_store);
    store->bytes -= cost_of(gone->len);
    free(gone->name);
    free(gone->mime_type);
    free(gone->data);
    free(gone);
}

static void expire(gbx_artifacts *store, int64_t now_ns)
{
    while (!STAILQ_EMPTY(&store->all) &&
           STAILQ_FIRST(&store->all)->expires_ns <= now_ns)
        drop_oldest(store);
}

/* uri: of a whole artifact, or of a page of it. */
static const gbx_artifact *find(const gbx_artifacts *store, const char *uri)
{
    size_t len = strcspn(uri, "?");
    const gbx_artifact *a;

    STAILQ_FOREACH(a, &store->all, in_store)
    {
        if (strlen(a->uri) == len && memcmp(a->uri, uri, len) == 0)
            break;
    }
    return a;
}

/* ---- reading -------------------------------------------------------------------- */

struct range {
    size_t offset;
    size_t length;
};

/* Parse "?offset=N&length=M", one of the two, or nothing. A length of 0 is refused: a
 * client would request empty pages for ever. */
static bool read_range(const char *given, struct range *ret)
{
    size_t len = 0;
    char *part;
    char *rest;
    GBX_CLEANUP(gbx_free) char *query = NULL;

    *ret = (struct range){0, SIZE_MAX};
    if (given[0] == 0 || given[1] == 0)
        return true;
    query = rest = gbx_need(evhttp_uridecode(given + 1, 0, &len));
    if (strlen(query) != len)
        return false;
    while ((part = strsep(&rest, "&")) != NULL) {
        bool is_offset = strncmp(part, "offset=", 7) == 0;
        size_t digits;

        if (!is_offset && strncmp(part, "length=", 7) != 0)
            return false;
        part += 7;
        digits = strspn(part, "0123456789");
        if (digits == 0 || digits > 15 || part[digits] != 0)
            return false;
        *(is_offset ? &ret->offset : &ret->length) = strtoull(part, NULL, 10);
    }
    return ret->length > 0;
}

static void write_range(const gbx_artifact *a, const char *uri, struct range range,
                        gbx_buf *to)
{
    size_t start = range.offset < a->len ? range.offset : a->len;
    size_t end = range.length < a->len - start ? start + range.length : a->len;

    if (a->is_text) {
        start = gbx_utf8_cut(a->data, a->len, start);
        end = gbx_utf8_cut(a->data, a->len, end);
        if (end == start && end < a->len) /* less than one character */
            for (end++; end < a->len && ((uint8_t)a->data[end] & 0xC0) == 0x80; end++)
                continue;
    }
    (void)gbx_buf_puts(to, "[{");
    gbx_json_put_text(to, "uri", uri);
    gbx_json_put_text(to, "mimeType", a->mime_type);
    gbx_json_put_key(to, a->is_text ? "text" : "blob");
    if (a->is_text) {
        (void)gbx_json_append_string(to, a->data + start, end - start);
    } else {
        (void)gbx_buf_puts(to, "\"");
        (void)gbx_base64_append(to, a->data + start, end - start);
        (void)gbx_buf_puts(to, "\"");
    }
    gbx_json_put_open(to, "_meta", '{');
    gbx_json_put_integer(to, "offset", (int64_t)start);
    gbx_json_put_integer(to, "bytes", (int64_t)(end - start));
    gbx_json_put_integer(to, "total", (int64_t)a->len);
    if (end < a->len)
        (void)gbx_buf_printf(to, ",\"next\":\"%s?offset=%zu&length=%zu\"", a->uri, end,
                             range.length);
    (void)gbx_buf_puts(to, "}}]");
}

gbx_artifacts *gbx_artifacts_new(uint64_t max_bytes, uint32_t keep_ms)
{
    gbx_artifacts *store = gbx_need(calloc(1, sizeof *store));

    STAILQ_INIT(&store->all);
    store->max_bytes = max_bytes;
    store->keep_ns = (int64_t)keep_ms * GBX_NS_PER_MS;
    (void)!getrandom(&store->salt, sizeof store->salt, 0);
    return store;
}

void gbx_artifacts_free(gbx_artifacts *store)
{
    if (store == NULL)
        return;
    while (!STAILQ_EMPTY(&store->all))
        drop_oldest(store);
    free(store);
}

bool gbx_artifacts_is_text(const char *mime_type, const void *data, size_t len)
{
    static const char *const bytes[] = {"image/", "audio/", "video/", "font/",
                                        "application/octet-stream"};

    for (size_t i = 0; i < GBX_COUNTOF(bytes); i++)
        if (strncmp(mime_type, bytes[i], strlen(bytes[i])) == 0)
            return false;
    return gbx_utf8_valid(data, len, NULL);
}

gbx_artifact *gbx_artifacts_add(gbx_artifacts *store, const char *name,
                                const char *mime_type, const void *data, size_t len,
                                int64_t now_ns)
{
    gbx_artifact *a;

    expire(store, now_ns);
    if (len > store->max_bytes)
        return NULL;
    a = gbx_need(calloc(1, sizeof *a));
    a->name = gbx_need(strndup(name, gbx_utf8_cut(name, strlen(name), NAME_BYTES)));
    a->mime_type = gbx_need(
        strndup(mime_type, gbx_utf8_cut(mime_type, strlen(mime_type), NAME_BYTES)));
    a->data = gbx_copy_bytes(data, len);
    a->len = len;
    a->is_text = gbx_artifacts_is_text(mime_type, a->data, len);
    a->expires_ns = now_ns + store->keep_ns;
    (void)snprintf(a->uri, sizeof a->uri, GBX_ARTIFACT_SCHEME "%08x/%llu", store->salt,
                   (unsigned long long)++store->last);
    /* A single artifact may exceed the limit by its overhead. */
    while (!STAILQ_EMPTY(&store->all) && store->bytes + cost_of(len) > store->max_bytes)
        drop_oldest(store);
    STAILQ_INSERT_TAIL(&store->all, a, in_store);
    store->bytes += cost_of(len);
    return a;
}

const gbx_artifact *gbx_artifacts_find(gbx_artifacts *store, const char *uri,
                                       int64_t now_ns)
{
    expire(store, now_ns);
    return find(store, uri);
}

bool gbx_artifacts_read(gbx_artifacts *store, const char *uri, int64_t now_ns,
                        gbx_buf *to)
{
    const gbx_artifact *a = gbx_artifacts_find(store, uri, now_ns);
    struct range range;

    if (a == NULL || !read_range(uri + strlen(a->uri), &range))
        return false;
    write_range(a, uri, range, to);
    return !to->failed;
}

const char *gbx_artifacts_fault(const gbx_artifacts *store, const char *uri)
{
    const gbx_artifact *a = find(store, uri);
    struct range range;

    if (a == NULL)
        return "no such artifact, or not any more: each is kept for a while, "
               "and the oldest go first";
    return read_range(uri + strlen(a->uri), &range)
               ? "the artifact is too large to be read whole: read pages of it, "
                 "?offset=N&length=M"
               : "the artifact has no such page: write ?offset=N&length=M, in bytes, and "
                 "a length of 1 at least";
}

bool gbx_artifacts_mime(const char *text, char ret[GBX_ARTIFACT_MIME_SIZE])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789!#$&^_.+-";
    char made[GBX_ARTIFACT_MIME_SIZE];
    size_t n = 0;
    size_t type = strspn(text, letters);
    size_t subtype = text[type] == '/' ? strspn(text + type + 1, letters) : 0;
    const char *rest = text + type + 1 + subtype;

    if (type == 0 || subtype == 0)
        return false;
    rest += strspn(rest, " ");
    if (*rest != '\0' && *rest != ';')
        return false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < ' ' || *c > '~' || n + 1 == sizeof made)
            return false;
        if (*c != ' ')
            made[n++] = *c;
    }
    memcpy(ret, made, n);
    ret[n] = '\0';
    return true;
}

/* ---- excerpts: cut between characters, never inside one --------------------- */

gbx_excerpt gbx_excerpt_text(const char *text, size_t len, size_t max,
                             gbx_artifacts *store, const char *name,
                             const char *mime_type, int64_t now_ns)
{
    gbx_excerpt cut = {.head = text, .head_len = len, .total = len};
    const gbx_artifact *kept;
    size_t tail_at;

    if (len <= max)
        return cut;
    cut.head_len = gbx_utf8_cut(text, len, max / 2);
    tail_at = gbx_utf8_cut(text, len, len - (max - max / 2) + 3);
    cut.tail = text + tail_at;
    cut.tail_len = len - tail_at;
    kept = gbx_artifacts_add(store, name, mime_type, text, len, now_ns);
    if (kept != NULL)
        memcpy(cut.uri, kept->uri, sizeof cut.uri);
    return cut;
}

void gbx_excerpt_say(const gbx_excerpt *cut, const char *what, size_t page, gbx_buf *to)
{
    if (cut->tail == NULL)
        return;
    (void)gbx_buf_printf(to,
                         "[%s cut: the first %zu and the last %zu of %zu bytes are "
                         "shown, %zu between them are not; ",
                         what, cut->head_len, cut->tail_len, cut->total,
                         cut->total - cut->head_len - cut->tail_len);
    if (cut->uri[0] != 0)
        (void)gbx_buf_printf(to,
                             "%s is the resource %s, in pages "
                             "%s?offset=0&length=%zu]\n",
                             cut->is_rest ? "all that was kept" : "the whole", cut->uri,
                             cut->uri, page);
    else
        (void)gbx_buf_puts(to, "the whole is too large to be kept: return less]\n");
}

void gbx_excerpt_append(const gbx_excerpt *cut, gbx_escape how, gbx_buf *to)
{
    (void)gbx_utf8_append_escaped(to, cut->head, cut->head_len, how);
    if (cut->tail == NULL)
        return;
    (void)gbx_buf_printf(to, "\n[... %zu bytes ...]\n",
                         cut->total - cut->head_len - cut->tail_len);
    (void)gbx_utf8_append_escaped(to, cut->tail, cut->tail_len, how);
}
