/* SPDX-License-Identifier: MIT */
/*
 * policy - the data structure that lists everything that sandboxed code may reach.
 *
 * Everything here is canonical already: hosts in lower case and punycode, addresses in
 * one notation, directories opened. Users of a policy compare, and never parse.
 * Anything that is not listed is not allowed: a zeroed policy allows nothing.
 *
 * One owner fills a policy. From its second reference on it is read-only: an engine
 * takes a reference, and from then on any thread may read and none may write.
 */
#ifndef GBX_POLICY_POLICY_H
#define GBX_POLICY_POLICY_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fail.h"

#include <glovebox/policy.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- trusted_file.c ------------------------------------------------------ */

/*
 * Open a file that must be trusted: a policy, a configuration or a secret.
 *
 * A user who can change such a file decides in the user's place. So it must belong to
 * root or the effective user, and no one else may write it. The same holds for every
 * directory and symbolic link on its path; a directory that others may write must have
 * the sticky bit or be mounted read-only, and directories above the user's own $HOME do
 * not count. Each part of the path is opened relative to the one before and examined
 * through its descriptor, so that nothing can be exchanged in between. Access control
 * lists are not examined: their effect shows in the group's bits.
 *
 * A descriptor that is open already was chosen by the process that started us: a pipe
 * behind /dev/stdin or /dev/fd/N is accepted, regardless of its owner.
 */

typedef enum gbx_trust {
    GBX_TRUST_OWN, /* only files that only root and the user can change */
    GBX_TRUST_ALL, /* every file: nothing is examined */
} gbx_trust;

typedef struct gbx_trusted_file {
    const char *path;
    const char *what; /* for messages, before its path: "the policy ", or "" */
    int flags;        /* of open(), besides O_CLOEXEC and O_NOCTTY */
    gbx_trust trust;
    bool is_secret; /* others may not read it either, unless root owns it */
} gbx_trusted_file;

/*
 * GBX_E_OS if it cannot be opened. If it is refused, errno is EPERM and the message has
 * the command that repairs it. warning has GBX_ERROR_MESSAGE_SIZE bytes, or is NULL; it
 * is "" unless the file is accepted although others may read it.
 */
gbx_status gbx_trusted_file_open(const gbx_trusted_file *file, int *ret_fd,
                                 char *warning, gbx_error *reterr);

/*
 * The same, and read all of it into *ret, a secret buffer that is initialised here.
 * GBX_E_POLICY if there are more than max bytes. With O_NONBLOCK in its flags only a
 * regular file is read: others may have no end. *ret_fd is still open afterwards; ret_fd
 * may be NULL.
 */
gbx_status gbx_trusted_file_read(const gbx_trusted_file *file, size_t max, gbx_buf *ret,
                                 int *ret_fd, char *warning, gbx_error *reterr);

#define GBX_SCHEME_HTTPS 1u
#define GBX_SCHEME_HTTP  2u

static inline const char *gbx_scheme_name(uint8_t scheme)
{
    return (scheme & GBX_SCHEME_HTTPS) != 0 ? "https" : "http";
}

static inline uint16_t gbx_scheme_port(uint8_t scheme)
{
    return (scheme & GBX_SCHEME_HTTPS) != 0 ? 443 : 80;
}

/* A network of addresses; IPv4 is ::ffff:a.b.c.d, its prefix 96 longer. */
typedef struct gbx_network {
    uint8_t address[16]; /* the bits after the prefix are zero */
    uint8_t prefix_bits; /* 0 to 128 */
} gbx_network;

/* One allowed destination: "[scheme://]host[:port]". */
typedef struct gbx_site {
    char *host; /* lower case, punycode, no trailing dot; a literal address in its one
                        notation, IPv6 without brackets */
    bool below; /* "*.example.org": any name below host, but not host */
    uint8_t schemes; /* GBX_SCHEME_*; only https unless http was requested */
    uint16_t port;   /* 0: that of the scheme */
    bool any_port;   /* ":*" */
    bool loopback;   /* may resolve to a loopback address: the entry itself names one */
} gbx_site;

typedef struct gbx_fetch_policy {
    gbx_site *sites;
    size_t site_count;
    gbx_network
        *networks; /* private ones that names may resolve to; never link-local */
    size_t network_count;
    char **methods;      /* upper case */
    size_t method_count; /* 0: GET HEAD POST PUT PATCH DELETE OPTIONS */
    uint64_t max_bytes;  /* of the decompressed body */
    uint64_t max_request_bytes;
    uint32_t timeout_ms;
    uint32_t max_redirects;
    char **nameservers;      /* "ip:port", IPv6 in brackets */
    size_t nameserver_count; /* 0: the system's */
    char *ca_file;           /* NULL: the system's */
} gbx_fetch_policy;

/* Identifies a file by its inode, not by its name. */
typedef struct gbx_file_id {
    dev_t device;
    ino_t inode;
} gbx_file_id;

/* A directory below which code may read. */
typedef struct gbx_root {
    int fd;     /* O_PATH, open while the policy exists */
    char *path; /* absolute */
    char *name; /* as in the policy; code may use it, too */
} gbx_root;

typedef struct gbx_file_policy {
    gbx_root *roots;
    size_t root_count;
    gbx_file_id
        *own; /* the policy's file and files of secrets: never readable by code */
    size_t own_count;
    uint64_t max_bytes; /* of one file */
} gbx_file_policy;

typedef struct gbx_pair {
    char *name;
    char *value; /* ends in NUL */
    size_t value_len;
} gbx_pair;

/* A value that never enters the sandbox: the host fills it in, only for these
 * targets. */
typedef struct gbx_secret {
    char *name;
    char *value; /* ends in NUL; in secret memory */
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
        *secret_forms; /* to search for; from gbx_secrets_prepare() */
    char **functions;  /* exposed functions that may be called: "db.query", "db.*" */
    size_t function_count;
    const char *self_filling; /* the exposed function that gets references to secrets
                         unreplaced, since it replaces them itself; or NULL. static */
    gbx_limits limits;        /* 0: not set */
    gbx_trust trust;          /* which of the files that it names are accepted */
    char **warnings;          /* about accepted files that others may read */
    size_t warning_count;
};

/* Take a reference; release it with gbx_policy_free(). */
gbx_policy *gbx_policy_ref(gbx_policy *policy);

/* For GBX_CLEANUP. */
static inline void gbx_policy_release(gbx_policy **policy)
{
    gbx_policy_free(*policy);
}

/*
 * True if a call may have the policy narrow when its engine has wide. If not, the error
 * is GBX_E_POLICY and names the first thing that narrow allows and wide does not.
 * Values of variables and secrets are not compared: the embedder chose both.
 */
bool gbx_policy_covers(const gbx_policy *wide, const gbx_policy *narrow,
                       gbx_error *reterr);

/* canonical_host as in gbx_site.host; scheme is one GBX_SCHEME_*; port is never 0. */
bool gbx_site_matches(const gbx_site *site, const char *canonical_host, uint16_t port,
                      uint8_t scheme);

/* True if the exposed function of this name may be called. NULL allows nothing. */
bool gbx_policy_allows_function(const gbx_policy *policy, const char *name);

/* Append the variables of env as a JSON object. False if the buffer is full. */
bool gbx_policy_put_env(const gbx_policy *policy, gbx_buf *to);

/* All limits: field, name in JSON, default (0: depends on others), least and most. */
#define GBX_LIMIT_MAP(XX)                                                    \
    XX(timeout_ms, "timeoutMs", 5000, 1, 600000)                             \
    XX(cpu_ms, "cpuMs", 0, 1, 600000)                                        \
    XX(memory_bytes, "memoryBytes", GBX_MIB(128), GBX_MIB(8), GBX_MIB(4096)) \
    XX(output_bytes, "outputBytes", GBX_MIB(1), 1, GBX_MIB(256))             \
    XX(code_bytes, "codeBytes", 0, 1, GBX_MIB(1))                            \
    XX(log_bytes, "logBytes", GBX_MIB(10), 1, GBX_MIB(64))                   \
    XX(host_calls, "hostCalls", 10000, 1, 10000000)                          \
    XX(host_calls_at_once, "hostCallsAtOnce", 256, 1, 4096)                  \
    XX(host_out_bytes, "hostOutBytes", GBX_MIB(16), 1, GBX_MIB(1024))        \
    XX(host_in_bytes, "hostInBytes", GBX_MIB(64), 1, GBX_MIB(1024))

/* Lower each limit to that of `by`; a limit of 0 is not set. */
void gbx_limits_lower(gbx_limits *limits, const gbx_limits *by);

/* True if name matches a pattern: "db.*" is every name below "db", "*" every name. */
bool gbx_names_function(char *const *patterns, size_t count, const char *name);

/* ---- policy_lists.c ------------------------------------------------------ */

/* A policy's arrays grow one item at a time, up to a bound, and can be cut. */

/* Maximum number of items in a list: more than a person would read. */
#define GBX_POLICY_LIST_MAX 1000

/*
 * Make room for item number count in the list that pointer_to_list points to. The item
 * is zeroed; the caller counts it once it is complete. NULL if memory is out.
 */
void *gbx_list_room(void *pointer_to_list, size_t count, size_t item_size);

/* GBX_E_POLICY if the list is full; what names it. */
gbx_status gbx_list_check(size_t count, const char *what, gbx_error *reterr);

gbx_status gbx_list_nomem(gbx_error *reterr);

/* Append a copy of text to names. */
gbx_status gbx_names_add(char ***names, size_t *count, const char *text, size_t len,
                         gbx_error *reterr);

/* The index of text among names[from] to names[count - 1], or count. */
size_t gbx_names_find(char *const *names, size_t from, size_t count, const char *text,
                      size_t len);

/* Free the items from index from on; the list itself stays, except in _free(). */
void gbx_names_cut(char **names, size_t from, size_t count);
void gbx_names_free(char **names, size_t count);
void gbx_sites_cut(gbx_site *sites, size_t from, size_t count);
void gbx_pairs_cut(gbx_pair *pairs, size_t from, size_t count);
void gbx_secrets_cut(gbx_secret *secrets, size_t from, size_t count);
void gbx_roots_cut(gbx_file_policy *file, size_t from);

/*
 * Errors in a policy's text: what is wrong, where, and what to write instead.
 *
 * The text may be hostile: messages quote it escaped and cut.
 */

#define GBX_QUOTE_SIZE 100

/* Quote text for a message: escaped as one line, and cut to fit. Returns out. */
const char *gbx_quote(char out[GBX_QUOTE_SIZE], const char *text, size_t len);

/* GBX_E_POLICY; the position is that of the byte at offset in text, which is one line.
 * The column is in characters, from 1. */
gbx_status gbx_refuse(gbx_error *reterr, const char *text, size_t offset,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Convert the column of an error in a part of text, which begins at offset, to a column
 * of text. */
void gbx_refused_within(gbx_error *err, const char *text, size_t offset);

/* ---- capability_grants.c ------------------------------------------------- */

/* Add one item to a policy, from text. */

/* Resolve a path of the policy, relative to base_dir; out has PATH_MAX bytes. */
gbx_status gbx_full_path(const char *base_dir, const char *text, size_t len, char *out,
                         gbx_error *reterr);

/* A name and its value; borrowed. */
typedef struct gbx_entry {
    const char *name;
    size_t name_len;
    const char *value;
    size_t value_len;
} gbx_entry;

/* Add the secret without its sites and functions; the caller adds them to *ret. */
gbx_status gbx_grant_secret(gbx_policy *policy, const gbx_entry *entry,
                            gbx_secret **ret, gbx_error *reterr);

/* ---- policy_add.c -------------------------------------------------------- */

/* Policies for a replay: code sees the names, with nothing behind them. */

/*
 * A policy with these gbx_capability bits, all exposed functions, and the values of env
 * (a JSON object of strings that has been checked, or empty); without sites,
 * directories or secrets. GBX_E_POLICY: env has a name or a value that no policy can
 * have.
 */
gbx_status gbx_policy_for_replay(uint32_t capabilities, gbx_span env, gbx_policy **ret,
                                 gbx_error *reterr);

/* A policy with these sites, one a line, for the guard to query; else as from
 * gbx_policy_new(). */
gbx_status gbx_policy_of_sites(gbx_span lines, gbx_policy **ret, gbx_error *reterr);

/* ---- site.c -------------------------------------------------------------- */

/* Convert one allowed destination from and to text. */

/* "[scheme://]host[:port]"; ret->host is free()d by the caller. */
gbx_status gbx_site_parse(const char *text, size_t len, gbx_site *ret,
                          gbx_error *reterr);

bool gbx_site_equals(const gbx_site *a, const gbx_site *b);

/* True if wide matches everything that narrow matches. */
bool gbx_site_covers(const gbx_site *wide, const gbx_site *narrow);

#define GBX_SITE_TEXT_SIZE 300

/*
 * False if the policy clearly does not allow url, judged before any resolver or
 * redirect; site is then its destination. True leaves the decision to the fetcher, as
 * for text that is not an absolute http or https URL or that needs a URL parser.
 */
bool gbx_policy_may_fetch(const gbx_policy *policy, const char *url, size_t len,
                          char site[GBX_SITE_TEXT_SIZE]);

/* Print as a policy would write it, for messages: "http://localhost:8080". */
const char *gbx_site_print(const gbx_site *site, char out[GBX_SITE_TEXT_SIZE]);

/* ---- address.c ----------------------------------------------------------- */

/* "host", "host:port", "[host]" or "[host]:port", split but not checked; borrowed. */
typedef struct gbx_hostport {
    const char *host;
    size_t host_len;
    const char *port; /* NULL: none; may be empty after a colon */
    size_t port_len;
    bool is_bracketed;
} gbx_hostport;
gbx_status gbx_hostport_split(const char *text, size_t len, gbx_hostport *ret,
                              gbx_error *reterr);

/* A port from 1 to 65535, without sign, space or leading zero. */
bool gbx_port_parse(const char *text, size_t len, uint16_t *ret);

/* IPv4 as in gbx_network. */
bool gbx_address_is_loopback(const uint8_t address[16]);

/*
 * The canonical form of a host name: listed and requested names are compared as these
 * bytes.
 */

/* The longest name is 253 characters. */
#define GBX_HOST_SIZE 256

typedef struct gbx_host {
    char text[GBX_HOST_SIZE]; /* as gbx_site.host; ends in NUL */
    size_t labels;            /* 0 for a literal address */
    uint8_t address[16];      /* of a literal address */
} gbx_host;

/*
 * Convert to lower case without a trailing dot, and addresses to one notation.
 * is_bracketed: text was in brackets, and must be IPv6. Refuses text that is not a host,
 * international names that are not in punycode, and obsolete notations of addresses.
 */
gbx_status gbx_host_parse(const char *text, size_t len, bool is_bracketed,
                          gbx_host *ret, gbx_error *reterr);

/* ---- secrets.c ----------------------------------------------------------- */

/*
 * Values that never enter the sandbox: {{secret:NAME}} becomes the value on
 * its way to an allowed target, and the value becomes {{secret:NAME}} in everything
 * that comes back.
 *
 * Everything fails closed: data that cannot be filled in or stripped must not be sent.
 */

/* Length of a value in bytes. Shorter values would be cut out everywhere, and code
 * could find them by sending guesses and seeing which are cut out. */
#define GBX_SECRET_MIN 8u
#define GBX_SECRET_MAX 8192u

/* Maximum length of all values of a policy together, in bytes. */
#define GBX_SECRETS_BYTES_MAX GBX_KIB(256)

/*
 * Prepare for gbx_secrets_strip() after the secrets of a policy have changed, before
 * the policy is shared. GBX_E_POLICY if they are too large together.
 */
gbx_status gbx_secrets_prepare(gbx_policy *policy, gbx_error *reterr);

/* Wipe and free what gbx_secrets_prepare() made. */
void gbx_secrets_forget(gbx_policy *policy);

/* The receiver of the value: one site, or one exposed function. */
typedef struct gbx_secret_target {
    const char *host; /* canonical, as in gbx_site; NULL: a function */
    uint16_t port;
    uint8_t scheme; /* one GBX_SCHEME_* */
    const char *function;
} gbx_secret_target;

/* True if text refers to a secret, known or not. */
bool gbx_secrets_are_in(gbx_span text);

/* A ceiling for JSON arguments with their secrets: a value is at most six times as long
 * in JSON, and there may be many. */
#define GBX_SECRETS_FILLED_MAX GBX_MIB(64)

/*
 * Append text to out with every {{secret:NAME}} replaced by the value of that secret.
 * text comes from the code, and is hostile; out must be empty, and becomes secret. For
 * a function text is JSON, and the values are escaped as JSON.
 *
 * GBX_E_POLICY: a secret is unknown or not for that target, or a reference is not
 * properly ended; the message names both and contains no value. GBX_E_NOMEM: memory or
 * the ceiling of out. On failure out is empty.
 */
gbx_status gbx_secrets_fill(const gbx_policy *policy, const gbx_secret_target *target,
                            gbx_span text, gbx_buf *out, gbx_error *reterr);

/* The kind of the bytes that come back. */
typedef enum gbx_secret_text {
    GBX_SECRET_LINE, /* a header's value, a message: plain text */
    GBX_SECRET_DATA, /* a body, JSON: if it is JSON it stays JSON */
} gbx_secret_text;

/*
 * Append data to out without the values of the policy's secrets. The policy must be the
 * engine's: a narrower one knows fewer secrets. A value is removed as it is, as base64
 * (at any place, in both alphabets) and as hexadecimal digits, and each of these also
 * percent-encoded or escaped as in JSON, up to four times (docs/internals/secrets.md).
 *
 * *ret_changed is false if there was none: out is then left empty, and the caller uses
 * data. False if memory or the ceiling of out is exhausted: data must not be passed on.
 *
 * Time: 1 to 15 ms a MiB, up to 70 if all of it is escapes of several kinds. It gives up
 * and returns false soon after *stop is true; stop may be NULL.
 */
bool gbx_secrets_strip(const gbx_policy *policy, gbx_secret_text kind, gbx_span data,
                       const atomic_bool *stop, gbx_buf *out, bool *ret_changed);

/* A ceiling for the redacted form of len bytes. */
static inline size_t gbx_secrets_ceiling(size_t len)
{
    return len * 8 + GBX_KIB(4);
}

/* Append data without the values of secrets, whether or not there were any. */
bool gbx_secrets_append_clean(const gbx_policy *policy, gbx_secret_text kind,
                              gbx_span data, gbx_buf *to);

#endif
