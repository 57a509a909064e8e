/* SPDX-License-Identifier: MIT */
/*
 * policy - what code in the box may reach, as plain data: the one place where it says so.
 *
 * Everything here is canonical when it arrives: hosts in lower case and punycode,
 * addresses in one notation, directories opened. Who decides compares, never parses.
 * What is not listed is not allowed: a zeroed policy allows nothing.
 *
 * A policy is filled by one owner and only read from its second reference on: an engine
 * takes one, and from then on any thread may read and none may write.
 */
#ifndef GBX_POLICY_POLICY_H
#define GBX_POLICY_POLICY_H

#include <glovebox/policy.h>

#include "base/buf.h"
#include "policy/trusted_file.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define GBX_SCHEME_HTTPS 1u
#define GBX_SCHEME_HTTP  2u

/* A network of addresses; IPv4 is ::ffff:a.b.c.d, its prefix 96 longer. */
typedef struct gbx_network {
    uint8_t address[16]; /* the bits after the prefix are zero */
    uint8_t prefix_bits; /* 0 to 128 */
} gbx_network;

/* One allowed destination: "[scheme://]host[:port]". */
typedef struct gbx_site {
    char *host; /* lower case, punycode, no trailing dot; a literal address in its one
                        notation, IPv6 without brackets */
    bool below; /* "*.example.org": any name below host, not host itself */
    uint8_t schemes; /* GBX_SCHEME_*; https alone unless http was asked for */
    uint16_t port;   /* 0: that of the scheme */
    bool any_port;   /* ":*" */
    bool loopback;   /* may end at a loopback address: the entry itself names one */
} gbx_site;

typedef struct gbx_fetch_policy {
    gbx_site *sites;
    size_t site_count;
    gbx_network
        *networks; /* private ones that names may resolve to; never link-local */
    size_t network_count;
    char **methods;      /* upper case */
    size_t method_count; /* none: GET HEAD POST PUT PATCH DELETE OPTIONS */
    uint64_t max_bytes;  /* of the decompressed body */
    uint64_t max_request_bytes;
    uint32_t timeout_ms;
    uint32_t max_redirects;
    char **nameservers;      /* "ip:port", IPv6 in brackets */
    size_t nameserver_count; /* none: the system's */
    char *ca_file;           /* NULL: the system's */
} gbx_fetch_policy;

/* A file by what it is, not by what it is called. */
typedef struct gbx_file_id {
    dev_t device;
    ino_t inode;
} gbx_file_id;

typedef struct gbx_file_policy {
    char **roots;  /* absolute */
    char **names;  /* as the policy wrote them, which code may write too; one a root */
    int *root_fds; /* O_PATH, opened with the policy, closed with it; one a root */
    size_t root_count;
    gbx_file_id
        *own; /* the policy's file and its like: never read, wherever they lie */
    size_t own_count;
    uint64_t max_bytes; /* of one file */
} gbx_file_policy;

typedef struct gbx_pair {
    char *name;
    char *value; /* ends in NUL */
    size_t value_len;
} gbx_pair;

/* A value that never enters the box: the host fills it in, for these alone. */
typedef struct gbx_secret {
    char *name;
    char *value; /* ends in NUL; in a vault */
    size_t value_len;
    gbx_site *sites;
    size_t site_count;
    char **functions; /* exposed functions, patterns as in gbx_policy.functions */
    size_t function_count;
} gbx_secret;

struct gbx_policy {
    atomic_uint refcount;
    uint32_t capabilities; /* GBX_CAP_* */
    gbx_fetch_policy fetch;
    gbx_file_policy file;
    gbx_pair *env;
    size_t env_count;
    gbx_secret *secrets;
    size_t secret_count;
    struct gbx_secret_forms
        *secret_forms; /* what is looked for; gbx_secrets_prepare() */
    char **functions;  /* exposed functions that may be called: "db.query", "db.*" */
    size_t function_count;
    bool all_functions;
    const char
        *self_filling; /* the exposed function that gets references to secrets as they
                                 are, since it fills them in itself; NULL: none. static */
    gbx_limits limits; /* 0: not said here */
    gbx_trust trust;   /* which files are taken, of those that it names */
    char **warnings;   /* of files that were taken all the same */
    size_t warning_count;
};

/* The same policy once more; give it back with gbx_policy_free(). */
gbx_policy *gbx_policy_ref(gbx_policy *policy);

/*
 * May a call have the policy narrow, when its engine has wide? GBX_E_POLICY names the
 * first thing that narrow allows and wide does not. Values (of variables, of secrets) are
 * not compared: both are the embedder's.
 */
bool gbx_policy_covers(const gbx_policy *wide, const gbx_policy *narrow,
                       gbx_error *reterr);

/* canonical_host as in gbx_site.host; scheme is one GBX_SCHEME_*; port is never 0. */
bool gbx_site_matches(const gbx_site *site, const char *canonical_host, uint16_t port,
                      uint8_t scheme);

/* May the exposed function of this name be called? NULL allows nothing. */
bool gbx_policy_allows_function(const gbx_policy *policy, const char *name);

/* Append the listed values as a JSON object. False if the buffer is full. */
bool gbx_policy_put_env(const gbx_policy *policy, gbx_buf *to);

/* Is name one of the patterns? "db.*" is every name below "db", "*" is every name. */
bool gbx_names_function(char *const *patterns, size_t count, const char *name);

#endif
