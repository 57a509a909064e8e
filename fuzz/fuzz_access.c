/* SPDX-License-Identifier: MIT */
/*
 * fuzz_access - whatever a client sends as a token, it is not valid: the issuer's key has
 * signed none. And a file of --oauth is read or refused with a place.
 *
 * Input: a file if it begins with '{', keys of the issuer if with '[', else a token.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/access/access.h"

#include <stdlib.h>
#include <string.h>

static const char file_text[] =
    "{\"issuer\":\"https://login.example.com\",\"resource\":\"https://mcp.example.com/mcp\","
    "\"scopes\":{\"a\":{\"tools\":[\"*\"],\"datasets\":[\"*\"]}}}";

/* The public keys of RFC 7517, appendix A.1, with its own ids. */
static const char set_text[] =
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
    "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\",\"kid\":\"1\"},"
    "{\"kty\":\"RSA\",\"n\":\"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT"
    "86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt"
    "7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n"
    "91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCu"
    "r-kEgU8awapJzKnqDKgw\",\"e\":\"AQAB\",\"alg\":\"RS256\",\"kid\":\"2011-04-29\"}]}";

static gbx_access_file *good_file(void)
{
    static gbx_access_file file;

    if (file.issuer == NULL)
        assert(gbx_access_parse(file_text, sizeof file_text - 1, &file, NULL) ==
               GBX_OK);
    return &file;
}

static gbx_token_keys *keys(void)
{
    static gbx_token_keys *made;
    json_t *set;

    if (made != NULL)
        return made;
    assert(gbx_token_keys_new(&made, NULL) == GBX_OK);
    set = json_loads(set_text, 0, NULL);
    gbx_token_keys_set(made, set);
    json_decref(set);
    return made;
}

static void read_file(const char *text, size_t len)
{
    gbx_access_file file = {0};
    gbx_error err = {0};
    gbx_status status = gbx_access_parse(text, len, &file, &err);

    if (status == GBX_OK)
        assert(file.issuer != NULL && file.resource != NULL && file.audience != NULL);
    else
        assert(err.message[0] != '\0');
    gbx_access_file_cleanup(&file);
}

static void read_keys(const char *text)
{
    json_t *list = json_loads(text, 0, NULL);
    json_t *set = json_pack("{s:o*}", "keys", list);
    gbx_token_keys *made = NULL;

    assert(gbx_token_keys_new(&made, NULL) == GBX_OK);
    gbx_token_keys_set(made, set);
    gbx_token_keys_free(made);
    json_decref(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_need(strndup((const char *)data, size));
    const char *why = NULL;
    gbx_token token;

    if (text[0] == '{') {
        read_file(text, strlen(text));
        return 0;
    }
    if (text[0] == '[') {
        read_keys(text);
        return 0;
    }
    assert(gbx_token_check(keys(), good_file(), text, 1700000000, &token, &why) !=
           GBX_TOKEN_VALID);
    assert(why != NULL && strpbrk(why, "\"\\") == NULL);
    return 0;
}
