/* SPDX-License-Identifier: MIT */
/* guard_cache - a hash finds the candidate; comparing the whole text decides. */
#include "engine/engine.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* Fast, and safety does not depend on it: colliding texts are distinguished, and
 * replace each other. */
static uint64_t hash_of(const gbx_call *call)
{
    const char *at = call->code;
    size_t left = call->code_len;
    uint64_t hash = left * 8 + (uint64_t)call->form;

    while (left > 0) {
        uint64_t word = 0;
        size_t n = left < sizeof word ? left : sizeof word;

        memcpy(&word, at, n);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
        at += n;
        left -= n;
    }
    return hash;
}

/* Do only text and form decide? */
static bool can_be_known(const gbx_call *call, size_t max_len)
{
    return call->policy == NULL && call->replay == NULL && call->bindings_len == 0 &&
           call->code_len > 0 && call->code_len <= max_len &&
           call->code_len <= GBX_KNOWN_BYTES_MAX / 4;
}

static bool is_same(const struct gbx_guard_cache_code *code, const gbx_call *call)
{
    return code->text != NULL && code->form == call->form &&
           code->len == call->code_len &&
           memcmp(code->text, call->code, call->code_len) == 0;
}

/* The lock is held. */
static struct gbx_guard_cache_code *find(gbx_guard_cache *known, const gbx_call *call,
                                         uint64_t hash)
{
    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        if (known->hashes[i] == hash && is_same(&known->codes[i], call))
            return &known->codes[i];
    return NULL;
}

static void forget(gbx_guard_cache *known, struct gbx_guard_cache_code *code)
{
    known->bytes -= code->len;
    free(code->text);
    *code = (struct gbx_guard_cache_code){0};
}

static struct gbx_guard_cache_code *least_used(gbx_guard_cache *known)
{
    struct gbx_guard_cache_code *least = NULL;

    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        if (known->codes[i].text != NULL &&
            (least == NULL || known->codes[i].used < least->used))
            least = &known->codes[i];
    return least;
}

static struct gbx_guard_cache_code *make_room(gbx_guard_cache *known, size_t len)
{
    struct gbx_guard_cache_code *place;

    while (known->bytes + len > GBX_KNOWN_BYTES_MAX)
        forget(known, least_used(known));
    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        if (known->codes[i].text == NULL)
            return &known->codes[i];
    place = least_used(known);
    forget(known, place);
    return place;
}

static void keep(gbx_guard_cache *known, const gbx_call *call, uint64_t hash,
                 const gbx_guard_span *span)
{
    struct gbx_guard_cache_code *code;
    char *text = malloc(call->code_len);

    if (text == NULL)
        return; /* not cached: it will be parsed again */
    memcpy(text, call->code, call->code_len);
    code = make_room(known, call->code_len);
    *code = (struct gbx_guard_cache_code){.text = text,
                                          .len = call->code_len,
                                          .form = call->form,
                                          .used = ++known->uses,
                                          .span = *span};
    known->hashes[code - known->codes] = hash;
    known->bytes += call->code_len;
}

/* Takes the lock itself. */
static bool recall(gbx_guard_cache *known, const gbx_call *call, uint64_t hash,
                   gbx_guard_span *ret_span)
{
    struct gbx_guard_cache_code *code;

    (void)pthread_mutex_lock(&known->lock);
    code = find(known, call, hash);
    if (code != NULL) {
        code->used = ++known->uses;
        *ret_span = code->span;
    }
    (void)pthread_mutex_unlock(&known->lock);
    return code != NULL;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_guard_cache_init(gbx_guard_cache *known, gbx_error *reterr)
{
    memset(known, 0, sizeof *known);
    return pthread_mutex_init(&known->lock, NULL) == 0
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_NOMEM, "cannot make a lock");
}

void gbx_guard_cache_cleanup(gbx_guard_cache *known)
{
    for (size_t i = 0; i < GBX_KNOWN_CODES_MAX; i++)
        free(known->codes[i].text);
    (void)pthread_mutex_destroy(&known->lock);
}

gbx_status gbx_guard_cache_check(gbx_guard_cache *known, const gbx_call *call,
                                 size_t max_len, const gbx_guard_world *world,
                                 gbx_guard_span *ret_span, gbx_report **ret_report,
                                 gbx_error *reterr)
{
    bool can_be = can_be_known(call, max_len);
    uint64_t hash = can_be ? hash_of(call) : 0;
    gbx_status status;

    if (can_be && recall(known, call, hash, ret_span)) {
        *ret_report = NULL;
        return GBX_OK;
    }
    status = gbx_guard_check(call->code, call->code_len, call->form, max_len, world,
                             ret_span, ret_report, reterr);
    if (status != GBX_OK || *ret_report != NULL || !can_be)
        return status;
    (void)pthread_mutex_lock(&known->lock);
    if (find(known, call, hash) == NULL) /* another thread may have added it */
        keep(known, call, hash, ret_span);
    (void)pthread_mutex_unlock(&known->lock);
    return GBX_OK;
}
