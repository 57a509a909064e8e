/* SPDX-License-Identifier: MIT */
/* sensitive_name - names are taken apart into words, and the words are looked up. */
#include "mcp/data/sensitive.h"

#include "base/cleanup.h"
#include "mcp/data/sensitive_word.h"

#include <stdio.h>
#include <string.h>

/* A count of tokens is not a token. */
static bool is_figure(const gbx_words *w)
{
    static const char *const figures[] = {
        "count", "total", "max",    "min", "limit", "usage", "used", "size",
        "rate",  "cost",  "length", "per", "price", "sum",   "avg",
    };

    return gbx_words_have_any(w, figures, GBX_COUNTOF(figures));
}

/* Whose name is that of a human being, and not of a thing. */
static bool is_person(const gbx_words *w)
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
    char plural[GBX_WORD_SIZE + 1];

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++) {
        (void)snprintf(plural, sizeof plural, "%ss", persons[i]);
        if (gbx_words_has(w, persons[i]) || gbx_words_has(w, plural))
            return true;
    }
    return gbx_words_has(w, "people");
}

/* Of a person: the person again, and no thing of theirs, as a plan or an order is. */
static bool is_aspect(const gbx_words *w)
{
    static const char *const aspects[] = {
        "profile", "details",    "info",    "data",     "identity",
        "self",    "attributes", "general", "personal", "biography",
    };

    return gbx_words_have_any(w, aspects, GBX_COUNTOF(aspects));
}

static bool is_name(const gbx_words *w)
{
    static const char *const names[] = {"name", "nom", "nombre"};

    return gbx_words_have_any(w, names, GBX_COUNTOF(names));
}

/* What opens something. */
static bool is_secret(const gbx_words *w, bool is_number)
{
    /* Long enough that they mean it wherever they stand. */
    static const char *const parts[] = {
        "password",      "passwd",    "passphrase", "secret",        "token",
        "credential",    "apikey",    "accesskey",  "privatekey",    "secretkey",
        "accountkey",    "sharedkey", "signingkey", "encryptionkey", "sshkey",
        "authorization", "sessionid", "cookie",     "bearer",        "securityanswer",
        "passwort",      "kennwort",  "motdepasse", "contrasena",    "seedphrase",
        "mnemonic",
    };
    static const char *const alone[] = {
        "pwd", "pw", "pass", "auth", "otp", "totp", "mfa", "2fa", "jwt", "csrf", "mdp",
    };

    return !(is_number && is_figure(w)) &&
           (gbx_words_have_part(w, parts, GBX_COUNTOF(parts), is_number) ||
            gbx_words_have_any(w, alone, GBX_COUNTOF(alone)));
}

/* Which no number is: email_sent says how many. */
static bool is_mail(const gbx_words *w)
{
    static const char *const parts[] = {"email", "courriel", "correo"};

    return gbx_words_have_part(w, parts, GBX_COUNTOF(parts), false) ||
           gbx_words_has(w, "mail");
}

static bool is_sensitive(const gbx_words *w, bool is_number)
{
    static const char *const parts[] = {
        "phone",
        "creditcard",
        "cardnumber",
        "cardno",
        "sortcode",
        "passport",
        "iban",
        "taxid",
        "nationalid",
        "nationalinsurance",
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
        "ccnum",
        "routingnumber",
        "zipcode",
        "licenseplate",
        "driverlicen",
        "driverslicen",
        "drivinglicen",
        "ipaddr",
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
        "handynummer",
        "mobilnummer",
        "rufnummer",
        "ausweis",
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
        "pin",     "ssn",
        "cvv",     "cvc",
        "dob",     "mobile",
        "mobil",   "tel",
        "handy",   "fax",
        "bic",     "ip",
        "ips",     "ipv",
        "mac",     "street",
        "acct",    "zip",
        "iban",    "addr",
        "address", "born",
        "postal",  "imei",
        "imsi",    "msisdn",
        "fname",   "lname",
        "adresse", "plz",
        "dni",     "movil",
        "strasse", "strase" /* with a sharp s */,
    };
    static const char *const numbered[] = {"account", "card", "cc"};
    static const char *const numbers[] = {"no", "nr", "num", "number"};

    if (is_number && is_figure(w))
        return false;
    return is_secret(w, is_number) || (!is_number && is_mail(w)) ||
           gbx_words_have_part(w, parts, GBX_COUNTOF(parts), is_number) ||
           gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
           (is_name(w) && is_person(w)) ||
           (gbx_words_have_any(w, numbered, GBX_COUNTOF(numbered)) &&
            gbx_words_have_any(w, numbers, GBX_COUNTOF(numbers)));
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_name(const char *name, size_t len, bool is_number)
{
    gbx_words w;

    gbx_words_take(name, len, &w);
    return is_sensitive(&w, is_number);
}

gbx_sensitive_place gbx_sensitive_below(gbx_sensitive_place place, const char *name,
                                        size_t len, bool is_number)
{
    gbx_words w;

    gbx_words_take(name, len, &w);
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
    gbx_words w;

    gbx_words_take(name, len, &w);
    return is_secret(&w, is_number);
}
