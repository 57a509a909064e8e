/* SPDX-License-Identifier: MIT */
/* sensitive_name - names are taken apart into words, and the words are looked up. */
#include "mcp/data/sensitive.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* More words are no name of a field. */
#define WORDS_MAX 12
#define WORD_SIZE 32

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + ('a' - 'A'));
    return c;
}

typedef struct words {
    char list[WORDS_MAX][WORD_SIZE];
    size_t count;
    char joined[WORDS_MAX * WORD_SIZE]; /* all of them, without anything between */
    size_t joined_len;
} words;

static void end_word(words *w, char *word, size_t *len)
{
    if (*len == 0 || w->count == WORDS_MAX)
        return;
    word[*len] = 0;
    memcpy(w->list[w->count++], word, *len + 1);
    memcpy(w->joined + w->joined_len, word, *len + 1);
    w->joined_len += *len;
    *len = 0;
}

/* customerEMail, customer_e-mail: where a capital follows a small letter, a word begins. */
static void take_words(const char *name, size_t len, words *w)
{
    char word[WORD_SIZE];
    unsigned char last = 0;
    size_t n = 0;

    *w = (words){.count = 0};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)name[i];
        bool is_new = islower(last) && isupper(c);

        if (is_new || !isalnum(c))
            end_word(w, word, &n);
        if (isalnum(c) && n < WORD_SIZE - 1)
            word[n++] = lower((char)c);
        last = c;
    }
    end_word(w, word, &n);
}

static bool has_word(const words *w, const char *word)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->list[i], word) == 0)
            return true;
    return false;
}

/* A count of tokens is not a token. */
static bool is_figure(const words *w)
{
    static const char *const figures[] = {"count", "total", "max",  "min",  "limit",
                                          "usage", "used",  "size", "rate", "length"};

    for (size_t i = 0; i < GBX_COUNTOF(figures); i++)
        if (has_word(w, figures[i]))
            return true;
    return false;
}

/* Whose name is that of a human being, and not of a thing. */
static bool is_person(const words *w)
{
    static const char *const persons[] = {
        "customer", "user",      "person",   "patient",     "employee",  "contact",
        "member",   "student",   "guest",    "passenger",   "applicant", "author",
        "owner",    "recipient", "buyer",    "seller",      "tenant",    "client",
        "driver",   "physician", "doctor",   "beneficiary", "insured",   "holder",
        "payer",    "payee",     "assignee", "cardholder",  "candidate", "attendee",
    };
    char plural[WORD_SIZE + 1];

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++) {
        (void)snprintf(plural, sizeof plural, "%ss", persons[i]);
        if (has_word(w, persons[i]) || has_word(w, plural))
            return true;
    }
    return has_word(w, "people");
}

static bool has_part(const words *w, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(w->joined, parts[i]) != NULL)
            return true;
    return false;
}

static bool has_any(const words *w, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_word(w, list[i]))
            return true;
    return false;
}

/* What opens something. */
static bool is_secret(const words *w)
{
    /* Long enough that they mean it wherever they stand. */
    static const char *const parts[] = {
        "password",      "passwd",    "passphrase", "secret",        "token",
        "credential",    "apikey",    "accesskey",  "privatekey",    "secretkey",
        "accountkey",    "sharedkey", "signingkey", "encryptionkey", "sshkey",
        "authorization", "sessionid", "cookie",     "bearer",
    };
    static const char *const alone[] = {
        "pwd", "pw", "pass", "auth", "otp", "totp", "mfa", "2fa", "jwt", "csrf",
    };

    return !is_figure(w) && (has_part(w, parts, GBX_COUNTOF(parts)) ||
                             has_any(w, alone, GBX_COUNTOF(alone)));
}

static bool is_sensitive(const words *w)
{
    static const char *const parts[] = {
        "email",       "phone",          "creditcard",    "cardnumber",
        "passport",    "iban",           "taxid",         "nationalid",
        "firstname",   "lastname",       "surname",       "fullname",
        "maidenname",  "givenname",      "familyname",    "middlename",
        "forename",    "username",       "accountholder", "cardholder",
        "birth",       "socialsecurity", "accountnumber", "bankaccount",
        "ccnumber",    "routingnumber",  "sortcode",      "licenseplate",
        "driverlicen", "driverslicen",   "drivinglicen",  "ipaddr",
        "ipv4",        "ipv6",           "clientip",      "remoteip",
        "macaddr",     "postcode",       "postalcode",    "zipcode",
    };
    static const char *const alone[] = {
        "pin",  "ssn",     "cvv",   "cvc",  "dob",    "mail",   "mobile", "tel",
        "fax",  "bic",     "ip",    "ips",  "street", "acct",   "zip",    "iban",
        "addr", "address", "born",  "cvc2", "cvv2",   "postal", "imei",   "msisdn",
        "imsi", "fname",   "lname", "ip4",  "ip6",
    };
    static const char *const numbers[] = {"no", "nr", "num"};

    if (is_figure(w))
        return false;
    return is_secret(w) || has_part(w, parts, GBX_COUNTOF(parts)) ||
           has_any(w, alone, GBX_COUNTOF(alone)) ||
           (has_word(w, "name") && is_person(w)) ||
           (has_word(w, "account") && has_any(w, numbers, GBX_COUNTOF(numbers)));
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_name(const char *name, size_t len)
{
    words w;

    take_words(name, len, &w);
    return is_sensitive(&w);
}

gbx_sensitive_place gbx_sensitive_below(gbx_sensitive_place place, const char *name,
                                        size_t len)
{
    words w;

    take_words(name, len, &w);
    if (place == GBX_SENSITIVE_ALL || is_sensitive(&w) ||
        (place == GBX_SENSITIVE_PERSON && strcmp(w.joined, "name") == 0))
        return GBX_SENSITIVE_ALL;
    return is_person(&w) && !is_figure(&w) ? GBX_SENSITIVE_PERSON
                                           : GBX_SENSITIVE_NOTHING;
}

bool gbx_sensitive_is_secret(const char *name, size_t len)
{
    words w;

    take_words(name, len, &w);
    return is_secret(&w);
}
