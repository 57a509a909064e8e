/* SPDX-License-Identifier: MIT */
/*
 * tls - TLS at the listening addresses, with the operator's certificate.
 *
 * OpenSSL and libevent's adapter for it are loaded only where a certificate is given.
 * Certificate and key are read again when their files change, since they are replaced
 * every few weeks. New ones that do not fit are reported, and the old ones stay in use.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"

#include <dlfcn.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libevent_openssl-2.1.so.7"

#define KEY_BYTES_MAX GBX_KIB(64)

#define TLS_MAP(XX)                        \
    XX(BIO_free)                           \
    XX(BIO_new_mem_buf)                    \
    XX(ERR_clear_error)                    \
    XX(ERR_peek_error)                     \
    XX(ERR_reason_error_string)            \
    XX(EVP_PKEY_free)                      \
    XX(PEM_read_bio_PrivateKey)            \
    XX(SSL_CTX_ctrl)                       \
    XX(SSL_CTX_free)                       \
    XX(SSL_CTX_new)                        \
    XX(SSL_CTX_set_options)                \
    XX(SSL_CTX_use_PrivateKey)             \
    XX(SSL_CTX_use_certificate_chain_file) \
    XX(SSL_new)                            \
    XX(SSL_shutdown)                       \
    XX(TLS_server_method)                  \
    XX(bufferevent_openssl_get_ssl)        \
    XX(bufferevent_openssl_socket_new)

typedef struct tls_library {
#define XX(name) __typeof__(name) *name;
    TLS_MAP(XX)
#undef XX
} tls_library;

struct gbx_http_tls {
    const gbx_http_options *options;
    tls_library lib;
    SSL_CTX *context;
    struct stat cert; /* the files that were read last */
    struct stat key;
};

/* The reason of the last failure of OpenSSL. */
static const char *reason_of(const gbx_http_tls *tls)
{
    const char *reason = tls->lib.ERR_reason_error_string(tls->lib.ERR_peek_error());

    return reason != NULL ? reason : "it is not a PEM file of this kind";
}

static gbx_status use_key(gbx_http_tls *tls, SSL_CTX *context, gbx_error *err)
{
    const gbx_http_options *o = tls->options;
    const gbx_trusted_file file = {o->tls_key, "the key ", O_RDONLY, o->trust, true};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    char warning[GBX_ERROR_MESSAGE_SIZE] = "";
    gbx_status status =
        gbx_trusted_file_read(&file, KEY_BYTES_MAX, &text, NULL, warning, err);
    EVP_PKEY *key;
    BIO *source;

    if (warning[0] != '\0')
        gbx_mcp_warn("warning: %s", warning);
    if (status != GBX_OK)
        return status;
    source = gbx_need(tls->lib.BIO_new_mem_buf(text.data, (int)text.len));
    key = tls->lib.PEM_read_bio_PrivateKey(source, NULL, NULL, "");
    if (key == NULL || tls->lib.SSL_CTX_use_PrivateKey(context, key) != 1)
        status = gbx_fail(err, GBX_E_USAGE, "cannot use the key '%s': %s", o->tls_key,
                          reason_of(tls));
    tls->lib.EVP_PKEY_free(key);
    (void)tls->lib.BIO_free(source);
    return status;
}

/* Read both files into a new context, which replaces the old one if all is well. */
static gbx_status read_files(gbx_http_tls *tls, gbx_error *err)
{
    const char *cert = tls->options->tls_cert;
    SSL_CTX *context = gbx_need(tls->lib.SSL_CTX_new(tls->lib.TLS_server_method()));
    gbx_status status = GBX_OK;

    tls->lib.ERR_clear_error();
    (void)tls->lib.SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION,
                                NULL);
    (void)tls->lib.SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    if (tls->lib.SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        status = gbx_fail(err, GBX_E_USAGE, "cannot use the certificate '%s': %s", cert,
                          reason_of(tls));
    else
        status = use_key(tls, context, err);
    if (status != GBX_OK) {
        tls->lib.SSL_CTX_free(context);
        return status;
    }
    tls->lib.SSL_CTX_free(tls->context);
    tls->context = context;
    return GBX_OK;
}

/* True if the file is another than the one in *last, or was written since. */
static bool has_changed(const char *path, struct stat *last)
{
    struct stat now = {0};
    bool is_same;

    if (stat(path, &now) < 0) /* it may be about to be replaced */
        return false;
    is_same = now.st_dev == last->st_dev && now.st_ino == last->st_ino &&
              now.st_size == last->st_size &&
              now.st_mtim.tv_sec == last->st_mtim.tv_sec &&
              now.st_mtim.tv_nsec == last->st_mtim.tv_nsec;
    *last = now;
    return !is_same;
}

static bool have_changed(gbx_http_tls *tls)
{
    bool has_cert = has_changed(tls->options->tls_cert, &tls->cert);

    return has_changed(tls->options->tls_key, &tls->key) || has_cert;
}

gbx_status gbx_http_tls_new(const gbx_http_options *options, gbx_http_tls **ret,
                            gbx_error *reterr)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    bool is_whole = library != NULL;
    gbx_http_tls *tls = gbx_need(calloc(1, sizeof *tls));
    void *found;

    *ret = tls;
    tls->options = options;
#define XX(name)                                     \
    found = is_whole ? dlsym(library, #name) : NULL; \
    is_whole = found != NULL;                        \
    memcpy(&tls->lib.name, &found, sizeof found);
    TLS_MAP(XX)
#undef XX
    if (!is_whole)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "'--tls-cert' needs libevent-openssl: cannot load '" LIBRARY
                        "'");
    (void)have_changed(tls);
    return read_files(tls, reterr);
}

struct bufferevent *gbx_http_tls_accept(gbx_http_tls *tls, struct event_base *base,
                                        int fd)
{
    gbx_error err = {0};

    if (have_changed(tls) && read_files(tls, &err) != GBX_OK)
        gbx_mcp_warn("warning: %s; the ones read before stay in use", err.message);
    return tls->lib.bufferevent_openssl_socket_new(
        base, fd, gbx_need(tls->lib.SSL_new(tls->context)), BUFFEREVENT_SSL_ACCEPTING,
        BEV_OPT_CLOSE_ON_FREE);
}

void gbx_http_tls_end(const gbx_http_tls *tls, struct bufferevent *bev)
{
    (void)tls->lib.SSL_shutdown(tls->lib.bufferevent_openssl_get_ssl(bev));
}

void gbx_http_tls_free(gbx_http_tls *tls)
{
    if (tls != NULL && tls->context != NULL)
        tls->lib.SSL_CTX_free(tls->context);
    free(tls);
}
