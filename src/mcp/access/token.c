/* SPDX-License-Identifier: MIT */
/*
 * token - checks a JWT: its signature, by a key of the issuer, and its claims.
 *
 * The header of a token only selects among keys that we have. It cannot name another
 * algorithm than those of the file, and keys and URLs in it are ignored.
 *
 * libcjose ends the process by an assertion if some texts are not valid base64url. So what
 * it gets to decode is checked here first.
 */
#include "mcp/access/access.h"

#include "base/cleanup.h"
#include "base/sha256.h"
#include "mcp/upstream/oauth.h"

#include <cjose/cjose.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEYS_MAX 64

/* Clocks of the issuer and of this machine may differ by so much, in seconds. */
#define CLOCK_SKEW 60
/* A later end counts as so many seconds from now. */
#define LONG_TIME 1000000000

/* Shorter RSA keys can be broken. */
#define RSA_BITS_MIN 2048

#define JOSE_MAP(XX)            \
    XX(cjose_jwk_get_keysize)   \
    XX(cjose_jwk_import_json)   \
    XX(cjose_jwk_release)       \
    XX(cjose_jws_get_plaintext) \
    XX(cjose_jws_get_protected) \
    XX(cjose_jws_import)        \
    XX(cjose_jws_release)       \
    XX(cjose_jws_verify)

typedef struct jose {
#define XX(name) __typeof__(name) *name;
    JOSE_MAP(XX)
#undef XX
} jose;

typedef struct key {
    cjose_jwk_t *jwk;
    char *id;        /* or NULL */
    char *algorithm; /* that it is for, or NULL */
    char kind;       /* of algorithms: 'R' for RSA, 'E' for an elliptic curve */
} key;

struct gbx_token_keys {
    jose lib;
    key list[KEYS_MAX];
    size_t count;
};

/* ---- keys ---------------------------------------------------------------------- */

gbx_status gbx_token_keys_new(gbx_token_keys **ret, gbx_error *reterr)
{
    void *library = dlopen("libcjose.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    gbx_token_keys *keys = gbx_need(calloc(1, sizeof *keys));
    bool is_whole = library != NULL;
    void *found;

    *ret = keys;
#define XX(name)                                     \
    found = is_whole ? dlsym(library, #name) : NULL; \
    is_whole = found != NULL;                        \
    memcpy(&keys->lib.name, &found, sizeof found);
    JOSE_MAP(XX)
#undef XX
    return is_whole ? GBX_OK
                    : gbx_fail(reterr, GBX_E_UNSUPPORTED,
                               "'--oauth' needs libcjose: cannot load 'libcjose.so.0'");
}

static void clear(gbx_token_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        keys->lib.cjose_jwk_release(keys->list[i].jwk);
        free(keys->list[i].id);
        free(keys->list[i].algorithm);
    }
    keys->count = 0;
}

void gbx_token_keys_free(gbx_token_keys *keys)
{
    if (keys != NULL)
        clear(keys);
    free(keys);
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static char *copy_of(const json_t *object, const char *name)
{
    const char *text = text_of(object, name);

    return text != NULL ? gbx_need(strdup(text)) : NULL;
}

/* The length of the base64url that text begins with; 0: it is not valid. */
static size_t base64_length(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789-_");

    return len % 4 == 1 ? 0 : len;
}

/* Is there a public key of that kind? */
static bool is_key(const json_t *jwk, char kind)
{
    static const char *const parts[][2] = {{"n", "e"}, {"x", "y"}};

    for (size_t i = 0; i < 2; i++) {
        const char *text = text_of(jwk, parts[kind == 'E'][i]);

        if (text == NULL || *text == '\0' || text[base64_length(text)] != '\0')
            return false;
    }
    return json_object_get(jwk, "d") == NULL;
}

void gbx_token_keys_set(gbx_token_keys *keys, const json_t *set)
{
    const json_t *list = json_object_get(set, "keys");

    clear(keys);
    for (size_t i = 0; i < json_array_size(list) && keys->count < KEYS_MAX; i++) {
        json_t *jwk = json_array_get(list, i);
        const char *type = text_of(jwk, "kty");
        const char *use = text_of(jwk, "use");
        key k = {.kind = '\0'};

        if (type == NULL || (use != NULL && strcmp(use, "sig") != 0))
            continue;
        k.kind = strcmp(type, "RSA") == 0 ? 'R' : strcmp(type, "EC") == 0 ? 'E' : '\0';
        if (k.kind != '\0' && is_key(jwk, k.kind))
            k.jwk = keys->lib.cjose_jwk_import_json((cjose_header_t *)jwk, NULL);
        if (k.jwk == NULL)
            continue;
        if (k.kind == 'R' &&
            keys->lib.cjose_jwk_get_keysize(k.jwk, NULL) < RSA_BITS_MIN) {
            keys->lib.cjose_jwk_release(k.jwk);
            continue;
        }
        k.id = copy_of(jwk, "kid");
        k.algorithm = copy_of(jwk, "alg");
        keys->list[keys->count++] = k;
    }
}

/* ---- the signature --------------------------------------------------------------- */

/* Three parts in base64url, with dots between them. */
static bool is_compact(const char *text)
{
    for (int i = 0; i < 3; i++) {
        size_t len = base64_length(text);

        if (len == 0 || text[len] != (i < 2 ? '.' : '\0'))
            return false;
        text += len + 1;
    }
    return true;
}

/* NULL, or why a token with this header is refused, whatever its signature. */
static const char *header_fault(const gbx_access_file *file, const json_t *header)
{
    const char *algorithm = text_of(header, "alg");
    const json_t *type = json_object_get(header, "typ");
    const char *name = json_string_value(type);

    if (algorithm == NULL || !gbx_access_takes_algorithm(file, algorithm))
        return "its algorithm is not accepted";
    if (json_object_get(header, "crit") != NULL)
        return "it has critical header parameters";
    if (type != NULL && (name == NULL || (strcasecmp(name, "JWT") != 0 &&
                                          strcasecmp(name, "at+jwt") != 0 &&
                                          strcasecmp(name, "application/at+jwt") != 0)))
        return "it is not an access token";
    return NULL;
}

static bool is_signed(const gbx_token_keys *keys, cjose_jws_t *jws,
                      const json_t *header)
{
    const char *algorithm = text_of(header, "alg");
    const char *id = text_of(header, "kid");
    char kind = algorithm[0] == 'E' ? 'E' : 'R'; /* RS and PS */

    for (size_t i = 0; i < keys->count; i++) {
        const key *k = &keys->list[i];
        /* The header does not exclude it. */
        bool is_fit = k->kind == kind &&
                      (id == NULL || k->id == NULL || strcmp(id, k->id) == 0) &&
                      (k->algorithm == NULL || strcmp(algorithm, k->algorithm) == 0);

        if (is_fit && keys->lib.cjose_jws_verify(jws, k->jwk, NULL))
            return true;
    }
    return false;
}

/* ---- claims ---------------------------------------------------------------------- */

/* True if the claim is this text, or an array that has it. */
static bool names(const json_t *claim, const char *text)
{
    const char *own = json_string_value(claim);

    return own != NULL ? strcmp(own, text) == 0 : gbx_oauth_lists(claim, text);
}

static const char *claims_fault(const gbx_access_file *file, const json_t *claims,
                                int64_t now)
{
    const json_t *expires = json_object_get(claims, "exp");
    const json_t *begins = json_object_get(claims, "nbf");
    const char *issuer = text_of(claims, "iss");
    double time = (double)now;

    if (!json_is_object(claims))
        return "its claims are not a JSON object";
    if (issuer == NULL || strcmp(issuer, file->issuer) != 0)
        return "it is of another issuer";
    if (!names(json_object_get(claims, "aud"), file->audience))
        return "it is for another server";
    if (!json_is_number(expires) || json_number_value(expires) <= time - CLOCK_SKEW)
        return "it has expired";
    if (begins != NULL &&
        (!json_is_number(begins) || json_number_value(begins) > time + CLOCK_SKEW))
        return "it is not valid yet";
    return NULL;
}

/* "scope" is a list with blanks (RFC 9068); some issuers call it "scp", or use an
 * array. */
static bool has_scope(const json_t *claim, const char *scope)
{
    const char *words = json_string_value(claim);

    return words != NULL ? gbx_text_is_listed(words, scope, strlen(scope))
                         : gbx_oauth_lists(claim, scope);
}

/* The subject and the client together are the identity. */
static bool take_identity(const json_t *claims, gbx_token *ret)
{
    const char *subject = text_of(claims, "sub");
    const char *client = text_of(claims, "client_id");
    const char *name;
    uint8_t hash[GBX_SHA256_SIZE];
    GBX_CLEANUP(gbx_free) char *all = NULL;
    size_t i;
    int len;

    if (client == NULL)
        client = text_of(claims, "azp");
    name = subject != NULL ? subject : client;
    if (name == NULL)
        return false;
    /* Neither has a NUL: it separates them. */
    len = asprintf(&all, "%s%c%s%c%u", subject != NULL ? subject : "", 0,
                   client != NULL ? client : "", 0, ret->scopes);
    (void)gbx_need(len < 0 ? NULL : all);
    gbx_sha256_of(all, (size_t)len, hash);
    for (i = 0; i + 1 < sizeof ret->id; i += 2)
        (void)snprintf(ret->id + i, 3, "%02x", hash[i / 2]);
    for (i = 0; i + 1 < sizeof ret->name && name[i] != '\0'; i++)
        ret->name[i] = name[i];
    for (ret->name[i] = '\0'; i-- > 0;)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '"' || name[i] == '\\')
            ret->name[i] = '?';
    return true;
}

/* NULL, or why the claims of a signed token are not sufficient. */
static const char *take_claims(const gbx_access_file *file, const json_t *claims,
                               int64_t now, gbx_token *ret)
{
    const char *fault = claims_fault(file, claims, now);
    double expires = json_number_value(json_object_get(claims, "exp"));
    const json_t *scope = json_object_get(claims, "scope");
    const json_t *scp = json_object_get(claims, "scp");

    if (fault != NULL)
        return fault;
    *ret = (gbx_token){.scopes = 0};
    for (size_t i = 0; i < file->scope_count; i++)
        if (has_scope(scope, file->scopes[i].name) ||
            has_scope(scp, file->scopes[i].name))
            ret->scopes |= UINT32_C(1) << i;
    ret->expires =
        expires < (double)now + LONG_TIME ? (int64_t)expires : now + LONG_TIME;
    return take_identity(claims, ret) ? NULL
                                      : "it names neither a subject nor a client";
}

gbx_token_verdict gbx_token_check(const gbx_token_keys *keys,
                                  const gbx_access_file *file, const char *text,
                                  int64_t now, gbx_token *ret, const char **ret_why)
{
    const jose *lib = &keys->lib;
    cjose_jws_t *jws =
        is_compact(text) ? lib->cjose_jws_import(text, strlen(text), NULL) : NULL;
    gbx_token_verdict verdict = GBX_TOKEN_INVALID;
    const json_t *header;
    json_t *claims;
    uint8_t *payload; /* owned by jws */
    size_t len;

    *ret_why = "it is not a signed token";
    if (jws == NULL)
        return verdict;
    header = (const json_t *)lib->cjose_jws_get_protected(jws);
    *ret_why = header_fault(file, header);
    if (*ret_why == NULL && !is_signed(keys, jws, header)) {
        *ret_why = "no key of the issuer has signed it";
        verdict = GBX_TOKEN_UNVERIFIED;
    }
    if (*ret_why == NULL && lib->cjose_jws_get_plaintext(jws, &payload, &len, NULL)) {
        claims = json_loadb((const char *)payload, len, JSON_REJECT_DUPLICATES, NULL);
        *ret_why = take_claims(file, claims, now, ret);
        verdict = *ret_why == NULL ? GBX_TOKEN_VALID : GBX_TOKEN_INVALID;
        json_decref(claims);
    }
    lib->cjose_jws_release(jws);
    return verdict;
}
