/* SPDX-License-Identifier: MIT */
/* tls_identity - see tls_identity.h. */
#include "tls_identity.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DAY 86400L

struct tls_identity {
    SSL_CTX *context;
    char ca_file[32];
};

static void must(bool fine)
{
    if (fine)
        return;
    ERR_print_errors_fp(stderr);
    abort();
}

static void add_extension(X509 *certificate, int which, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, which, value);

    must(extension != NULL && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

/* issuer NULL: signed by itself. */
static X509 *make_certificate(const char *name, EVP_PKEY *key, X509 *issuer,
                              EVP_PKEY *issuer_key, bool expired)
{
    X509 *made = X509_new();
    X509_NAME *subject;
    char alternative[128];

    must(made != NULL && X509_set_version(made, 2) == 1);
    must(ASN1_INTEGER_set(X509_get_serialNumber(made), issuer == NULL ? 1 : 2) == 1);
    must(X509_gmtime_adj(X509_getm_notBefore(made), -10 * DAY) != NULL);
    must(X509_gmtime_adj(X509_getm_notAfter(made), expired ? -DAY : 10 * DAY) != NULL);
    must(X509_set_pubkey(made, key) == 1);
    subject = X509_get_subject_name(made);
    must(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                    (const unsigned char *)name, -1, -1, 0) == 1);
    must(X509_set_issuer_name(made, issuer == NULL
                                        ? subject
                                        : X509_get_subject_name(issuer)) == 1);
    if (issuer == NULL) {
        add_extension(made, NID_basic_constraints, "critical,CA:TRUE");
    } else {
        (void)snprintf(alternative, sizeof alternative, "DNS:%s", name);
        add_extension(made, NID_subject_alt_name, alternative);
    }
    must(X509_sign(made, issuer_key, EVP_sha256()) > 0);
    return made;
}

static void write_file(tls_identity *identity, X509 *authority)
{
    FILE *file;
    int fd;

    (void)snprintf(identity->ca_file, sizeof identity->ca_file, "/tmp/gbx-ca-XXXXXX");
    fd = mkstemp(identity->ca_file);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    must(file != NULL && PEM_write_X509(file, authority) == 1 && fclose(file) == 0);
}

/* ---- public to the tests ------------------------------------------------- */

tls_identity *identity_new(const char *name, bool expired)
{
    tls_identity *identity = calloc(1, sizeof *identity);
    EVP_PKEY *ca_key = EVP_EC_gen("P-256");
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *authority;
    X509 *certificate;

    must(identity != NULL && ca_key != NULL && key != NULL);
    authority =
        make_certificate("An authority of the tests", ca_key, NULL, ca_key, false);
    certificate = make_certificate(name, key, authority, ca_key, expired);
    write_file(identity, authority);
    identity->context = SSL_CTX_new(TLS_server_method());
    must(identity->context != NULL &&
         SSL_CTX_use_certificate(identity->context, certificate) == 1 &&
         SSL_CTX_use_PrivateKey(identity->context, key) == 1);
    X509_free(authority);
    X509_free(certificate);
    EVP_PKEY_free(ca_key);
    EVP_PKEY_free(key);
    return identity;
}

void identity_free(tls_identity *identity)
{
    (void)unlink(identity->ca_file);
    SSL_CTX_free(identity->context);
    free(identity);
}

const char *identity_ca_file(const tls_identity *identity)
{
    return identity->ca_file;
}

void identity_write(const tls_identity *identity, const char *path)
{
    FILE *file = fopen(path, "we");

    must(file != NULL &&
         PEM_write_X509(file, SSL_CTX_get0_certificate(identity->context)) == 1 &&
         PEM_write_PrivateKey(file, SSL_CTX_get0_privatekey(identity->context), NULL,
                              NULL, 0, NULL, NULL) == 1 &&
         fclose(file) == 0);
}

struct ssl_ctx_st *identity_context(const tls_identity *identity)
{
    return identity->context;
}
