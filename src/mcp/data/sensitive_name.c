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

/* What is behind 0xc3 in UTF-8, without its accent; a blank for what is no letter. */
static char plain_letter(unsigned char second)
{
    static const char letters[] = "AAAAAAACEEEEIIIIDNOOOOO OUUUUYTs"
                                  "aaaaaaaceeeeiiiidnooooo ouuuuyty";

    return second >= 0x80 && second <= 0xbf ? letters[second - 0x80] : ' ';
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
        bool is_new;

        if (c == 0xc3 && i + 1 < len)
            c = (unsigned char)plain_letter((unsigned char)name[++i]);
        is_new = islower(last) && isupper(c);
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

static bool has_any(const words *w, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_word(w, list[i]))
            return true;
    return false;
}

/* A count of tokens is not a token. */
static bool is_figure(const words *w)
{
    static const char *const figures[] = {
        "count", "total", "max",    "min", "limit", "usage", "used", "size",
        "rate",  "cost",  "length", "per", "price", "sum",   "avg",
    };

    return has_any(w, figures, GBX_COUNTOF(figures));
}

/* Whose name is that of a human being, and not of a thing. */
static bool is_person(const words *w)
{
    static const char *const persons[] = {
        "customer", "user",      "person",   "patient",     "employee",    "contact",
        "member",   "student",   "guest",    "passenger",   "applicant",   "author",
        "owner",    "recipient", "buyer",    "seller",      "tenant",      "client",
        "driver",   "physician", "doctor",   "beneficiary", "insured",     "holder",
        "payer",    "payee",     "assignee", "cardholder",  "candidate",   "attendee",
        "kunde",    "kunden",    "benutzer", "mitarbeiter", "utilisateur", "cliente",
        "usuario",  "empleado",
    };
    char plural[WORD_SIZE + 1];

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++) {
        (void)snprintf(plural, sizeof plural, "%ss", persons[i]);
        if (has_word(w, persons[i]) || has_word(w, plural))
            return true;
    }
    return has_word(w, "people");
}

/* Of a person: the person again, and no thing of theirs, as a plan or an order is. */
static bool is_aspect(const words *w)
{
    static const char *const aspects[] = {
        "profile", "details",    "info",    "data",     "identity",
        "self",    "attributes", "general", "personal", "biography",
    };

    return has_any(w, aspects, GBX_COUNTOF(aspects));
}

static bool is_name(const words *w)
{
    static const char *const names[] = {"name", "nom", "nombre"};

    return has_any(w, names, GBX_COUNTOF(names));
}

/* Things that end as a phone does. */
static bool is_device(const char *word)
{
    static const char *const devices[] = {
        "headphone", "earphone", "microphone", "megaphone", "smartphone", "saxophone",
    };

    for (size_t i = 0; i < GBX_COUNTOF(devices); i++)
        if (strncmp(word, devices[i], strlen(devices[i])) == 0)
            return true;
    return false;
}

/* Does it stand at w->joined[at] where words begin, or at the end of one? A number that is
 * named in the plural is how many there are. */
static bool is_part_at(const words *w, size_t at, size_t len, bool is_number)
{
    size_t start = 0, end = 0, i = 0;
    bool is_plural, is_first;

    while (end <= at) {
        start = end;
        end += strlen(w->list[i++]);
    }
    is_first = at == start;
    if (!is_first && (at + len > end || is_device(w->joined + start)))
        return false;
    while (end < at + len)
        end += strlen(w->list[i++]);
    is_plural = at + len + 1 == end && w->joined[at + len] == 's';
    return is_plural ? !is_number : is_first || at + len == end;
}

static bool has_part(const words *w, const char *const *parts, size_t count,
                     bool is_number)
{
    for (size_t i = 0; i < count; i++)
        for (const char *at = w->joined; (at = strstr(at, parts[i])) != NULL; at++)
            if (is_part_at(w, (size_t)(at - w->joined), strlen(parts[i]), is_number))
                return true;
    return false;
}

/* What opens something. */
static bool is_secret(const words *w, bool is_number)
{
    /* Long enough that they mean it wherever they stand. */
    static const char *const parts[] = {
        "password",      "passwd",    "passphrase", "secret",        "token",
        "credential",    "apikey",    "accesskey",  "privatekey",    "secretkey",
        "accountkey",    "sharedkey", "signingkey", "encryptionkey", "sshkey",
        "authorization", "sessionid", "cookie",     "bearer",        "securityanswer",
        "passwort",      "kennwort",  "motdepasse", "contrasena",
    };
    static const char *const alone[] = {
        "pwd", "pw", "pass", "auth", "otp", "totp", "mfa", "2fa", "jwt", "csrf", "mdp",
    };

    return !(is_number && is_figure(w)) &&
           (has_part(w, parts, GBX_COUNTOF(parts), is_number) ||
            has_any(w, alone, GBX_COUNTOF(alone)));
}

/* Which no number is: email_sent says how many. */
static bool is_mail(const words *w)
{
    static const char *const parts[] = {"email", "courriel", "correo"};

    return has_part(w, parts, GBX_COUNTOF(parts), false) || has_word(w, "mail");
}

static bool is_sensitive(const words *w, bool is_number)
{
    static const char *const parts[] = {
        "phone",
        "creditcard",
        "cardnumber",
        "sortcode",
        "passport",
        "iban",
        "taxid",
        "nationalid",
        "firstname",
        "lastname",
        "surname",
        "fullname",
        "maidenname",
        "givenname",
        "familyname",
        "middlename",
        "forename",
        "username",
        "accountholder",
        "cardholder",
        "birth",
        "socialsecurity",
        "accountnumber",
        "bankaccount",
        "ccnumber",
        "routingnumber",
        "zipcode",
        "licenseplate",
        "driverlicen",
        "driverslicen",
        "drivinglicen",
        "ipaddr",
        "ipv4",
        "ipv6",
        "clientip",
        "remoteip",
        "macaddr",
        "postcode",
        "postalcode",
        /* German, French, Spanish */
        "vorname",
        "nachname",
        "geburt",
        "telefon",
        "anschrift",
        "postleitzahl",
        "kontonummer",
        "kartennummer",
        "steuernummer",
        "prenom",
        "nomdefamille",
        "naissance",
        "codepostal",
        "numerodecompte",
        "apellido",
        "nacimiento",
        "codigopostal",
        "direccion",
        "numerodecuenta",
        "tarjetadecredito",
    };
    static const char *const alone[] = {
        "pin",    "ssn",    "cvv",     "cvc",     "dob",
        "mobile", "tel",    "handy",   "fax",     "bic",
        "ip",     "ips",    "street",  "acct",    "zip",
        "iban",   "addr",   "address", "born",    "cvc2",
        "cvv2",   "postal", "imei",    "msisdn",  "imsi",
        "fname",  "lname",  "ip4",     "ip6",     "adresse",
        "plz",    "dni",    "movil",   "strasse", "strase" /* with a sharp s */,
    };
    static const char *const numbers[] = {"no", "nr", "num"};

    if (is_number && is_figure(w))
        return false;
    return is_secret(w, is_number) || (!is_number && is_mail(w)) ||
           has_part(w, parts, GBX_COUNTOF(parts), is_number) ||
           has_any(w, alone, GBX_COUNTOF(alone)) || (is_name(w) && is_person(w)) ||
           (has_word(w, "account") && has_any(w, numbers, GBX_COUNTOF(numbers)));
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_name(const char *name, size_t len, bool is_number)
{
    words w;

    take_words(name, len, &w);
    return is_sensitive(&w, is_number);
}

gbx_sensitive_place gbx_sensitive_below(gbx_sensitive_place place, const char *name,
                                        size_t len, bool is_number)
{
    words w;

    take_words(name, len, &w);
    if (place == GBX_SENSITIVE_ALL || is_sensitive(&w, is_number) ||
        (place == GBX_SENSITIVE_PERSON && w.count == 1 && is_name(&w)))
        return GBX_SENSITIVE_ALL;
    return (place == GBX_SENSITIVE_PERSON && is_aspect(&w)) ||
                   (is_person(&w) && !is_figure(&w))
               ? GBX_SENSITIVE_PERSON
               : GBX_SENSITIVE_NOTHING;
}

bool gbx_sensitive_is_secret(const char *name, size_t len, bool is_number)
{
    words w;

    take_words(name, len, &w);
    return is_secret(&w, is_number);
}
