/* SPDX-License-Identifier: MIT */
/* sensitive_name - names are taken apart into words, and the words are looked up. */
#include "mcp/data/sensitive.h"

#include "base/cleanup.h"
#include "mcp/data/sensitive_tongue.h"
#include "mcp/data/sensitive_word.h"

#include <ctype.h>
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

/* Whose name is that of a human being, and not of a thing; or in the plural. */
static bool is_person_word(const char *word)
{
    static const char *const persons[] = {
        "customer",       "user",          "person",          "patient",
        "employee",       "contact",       "member",          "student",
        "guest",          "passenger",     "applicant",       "author",
        "owner",          "recipient",     "buyer",           "seller",
        "tenant",         "client",        "driver",          "physician",
        "doctor",         "beneficiary",   "insured",         "holder",
        "payer",          "payee",         "assignee",        "cardholder",
        "candidate",      "attendee",      "sender",          "teacher",
        "participant",    "manager",       "supervisor",      "subscriber",
        "visitor",        "pupil",         "kunde",           "kunden",
        "benutzer",       "mitarbeiter",   "patienten",       "empfanger",
        "empfaenger",     "kontakt",       "teilnehmer",      "inhaber",
        "kontoinhaber",   "karteninhaber", "ansprechpartner", "utilisateur",
        "cliente",        "usuario",       "empleado",        "paciente",
        "reporter",       "requester",     "submitter",       "landlord",
        "spouse",         "guardian",      "instructor",      "auftraggeber",
        "besteller",      "mieter",        "vermieter",       "bearbeiter",
        "sachbearbeiter", "betreuer",      "vorgesetzter",    "titulaire",
        "destinataire",
    };

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++) {
        size_t len = strlen(persons[i]);

        if (word[0] == persons[i][0] && strncmp(word, persons[i], len) == 0 &&
            (word[len] == 0 || strcmp(word + len, "s") == 0))
            return true;
    }
    return strcmp(word, "people") == 0 || gbx_tongue_is_person_word(word);
}

static bool is_person(const gbx_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (is_person_word(w->list[i]))
            return true;
    return false;
}

/* Is the person what it is about: customer, account_owner, but not customer_type? */
static bool is_somebody(const gbx_words *w)
{
    static const char *const whole[] = {"assignedto"};
    size_t i = w->count;

    if (gbx_words_are_any(w, whole, GBX_COUNTOF(whole)))
        return true;
    while (i > 0 && isdigit((unsigned char)w->list[i - 1][0])) /* contact 2 */
        i--;
    return i > 0 && is_person_word(w->list[i - 1]);
}

/* For what one gives a name: billing name, legal name; and the name on a card. */
static bool is_role(const char *word)
{
    static const char *const roles[] = {
        "billing", "shipping", "delivery", "display", "legal",       "real",
        "cust",    "card",     "karte",    "carte",   "kreditkarte", "tarjeta",
    };

    for (size_t i = 0; i < GBX_COUNTOF(roles); i++)
        if (strcmp(word, roles[i]) == 0)
            return true;
    return false;
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
    static const char *const names[] = {"name", "nom", "nombre", "nome", "naam"};

    return gbx_words_have_any(w, names, GBX_COUNTOF(names));
}

/* Somebody's: customer_name, BillingName; in one word, too: Kundenname, klantnaam. */
static bool is_name_of_person(const gbx_words *w)
{
    bool has_name = is_name(w);

    for (size_t i = 0; i < w->count; i++) {
        char word[GBX_WORD_SIZE];
        size_t len = strlen(w->list[i]);

        memcpy(word, w->list[i], len + 1);
        if (has_name && (is_person_word(word) || is_role(word)))
            return true;
        if (len < 5 || (strcmp(word + len - 4, "name") != 0 &&
                        strcmp(word + len - 4, "naam") != 0))
            continue;
        word[len - 4] = 0;
        if (is_person_word(word) || is_role(word))
            return true;
    }
    return false;
}

/* In what is of a person: theirs. */
static bool is_own_name(const gbx_words *w, bool is_number)
{
    static const char *const names[] = {"first", "last", "middle"};

    return w->count == 1 &&
           (is_name(w) ||
            (!is_number && gbx_words_have_any(w, names, GBX_COUNTOF(names))));
}

/* What opens something. */
static bool is_secret(const gbx_words *w, bool is_number)
{
    /* Long enough that they mean it wherever they stand. */
    static const char *const parts[] = {
        "password",     "passwd",           "passphrase",     "secret",
        "token",        "credential",       "apikey",         "accesskey",
        "privatekey",   "secretkey",        "accountkey",     "sharedkey",
        "signingkey",   "encryptionkey",    "sshkey",         "authorization",
        "sessionid",    "cookie",           "bearer",         "securityanswer",
        "passwort",     "kennwort",         "motdepasse",     "contrasena",
        "seedphrase",   "mnemonic",         "passcode",       "privkey",
        "smscode",      "verificationcode", "recoverycode",   "backupcode",
        "securitycode", "claveacceso",      "clavedeacceso",  "licensekey",
        "licencekey",   "productkey",       "serialkey",      "masterkey",
        "recoverykey",  "activationkey",    "activationcode", "resetcode",
        "resetlink",    "invitecode",       "invitationcode", "pairingcode",
        "webhookurl",   "connectionstring", "connstr",
    };
    static const char *const alone[] = {
        "pwd", "pw",   "pass", "auth", "otp",  "totp",  "mfa", "2fa",
        "jwt", "csrf", "mdp",  "pswd", "cred", "creds", "puk", "psk",
    };
    /* clave: of a product it is its code */
    static const char *const whole[] = {"clave", "webhook"};

    return !(is_number && is_figure(w)) &&
           (gbx_words_have_part(w, parts, GBX_COUNTOF(parts), is_number) ||
            gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
            gbx_words_are_any(w, whole, GBX_COUNTOF(whole)) ||
            gbx_tongue_is(w, GBX_TONGUE_SECRET, is_number));
}

/* When somebody was born. */
static bool is_birth(const gbx_words *w, bool is_number)
{
    static const char *const parts[] = {
        "birth", "geburt", "naissance", "nacimiento", "fechanac", "fechadenac",
    };
    static const char *const alone[] = {
        "dob", "yob", "bday", "born", "geb", "geboren", "nacido", "nacida",
    };
    static const char *const whole[] = {"nele", "neele"};

    return gbx_words_have_part(w, parts, GBX_COUNTOF(parts), is_number) ||
           gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
           gbx_words_are_any(w, whole, GBX_COUNTOF(whole));
}

/* By what a state or an insurance knows somebody. */
static bool is_identity(const gbx_words *w, bool is_number)
{
    static const char *const parts[] = {
        "passport",
        "taxid",
        "nationalid",
        "nationalinsurance",
        "socialsecurity",
        "driverlicen",
        "driverslicen",
        "drivinglicen",
        "medicalrecord",
        "ausweis",
        "reisepass",
        "passnummer",
        "fuhrerschein",
        "fuehrerschein",
        "steuerid",
        "sozialversicherung",
        "rentenversicherungsnummer",
        "versichertennummer",
        "svnummer",
        "kvnummer",
        "securitesociale",
        "numsecu",
        "insurancenumber",
        "insuranceno",
        "vatid",
        "vatnumber",
        "vatno",
        "ustid",
        "umsatzsteuerid",
    };
    static const char *const alone[] = {"ssn", "dni", "nif", "cpf", "curp", "mrn"};
    static const char *const whole[] = {"nir", "nie", "stnummer"};
    static const char *const numbers[] = {
        "vat"}; /* as a number it is a sum, or a rate */

    return (!is_number && gbx_words_are_any(w, numbers, GBX_COUNTOF(numbers))) ||
           gbx_words_have_part(w, parts, GBX_COUNTOF(parts), is_number) ||
           gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
           gbx_words_are_any(w, whole, GBX_COUNTOF(whole));
}

/* Which no number is: email_sent says how many. */
static bool is_mail(const gbx_words *w)
{
    static const char *const parts[] = {"email", "courriel", "correo"};

    return gbx_words_have_part(w, parts, GBX_COUNTOF(parts), false) ||
           gbx_words_has(w, "mail");
}

/* Which things and companies rarely have. */
static bool is_of_person(const gbx_words *w, bool is_number)
{
    static const char *const parts[] = {
        "phone",
        "firstname",
        "firstnm",
        "lastname",
        "lastnm",
        "surname",
        "maidenname",
        "givenname",
        "familyname",
        "middlename",
        "forename",
        "nickname",
        /* German, French, Spanish */
        "vorname",
        "nachname",
        "familienname",
        "telefon",
        "handynummer",
        "mobilnummer",
        "mobilfunk",
        "rufnummer",
        "festnetz",
        "anschrift",
        "mailadresse",
        "prenom",
        "nomdefamille",
        "apellido",
        "direccion",
    };
    static const char *const alone[] = {
        "mobile", "mobil", "tel",     "handy",  "fax",     "msisdn",
        "fname",  "lname", "celular", "zuname", "rufname", "movil",
    };
    static const char *const whole[] = {"cell"};

    return (!is_number && is_mail(w)) || is_birth(w, is_number) ||
           is_identity(w, is_number) ||
           gbx_tongue_is(w, GBX_TONGUE_PERSONAL, is_number) ||
           gbx_words_have_part(w, parts, GBX_COUNTOF(parts), is_number) ||
           gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
           gbx_words_are_any(w, whole, GBX_COUNTOF(whole));
}

/* Where somebody lives, or something stands or is stored. */
static bool is_address(const gbx_words *w, bool is_number)
{
    static const char *const alone[] = {
        "street",  "addr",    "address",
        "adresse", "strasse", "strase", /* with a sharp s */
        "calle",   "rue",     "hausnummer",
    };
    static const char *const whole[] = {"str"}; /* as a number it is a strength */

    return gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
           gbx_tongue_is(w, GBX_TONGUE_ADDRESS, is_number) ||
           (!is_number && gbx_words_are_any(w, whole, GBX_COUNTOF(whole)));
}

/* Of money and places, long enough that they mean it wherever they stand. */
static const char *const sensitive_parts[] = {
    "creditcard",
    "cardpan",
    "cardnumber",
    "cardno",
    "sortcode",
    "iban",
    "fullname",
    "username",
    "accountholder",
    "cardholder",
    "accountnumber",
    "bankaccount",
    "ccnumber",
    "ccnum",
    "routingnumber",
    "zipcode",
    "licenseplate",
    "ipaddr",
    "clientip",
    "remoteip",
    "macaddr",
    "hwaddr",
    "forwardedfor",
    "postcode",
    "postalcode",
    /* German, French, Spanish */
    "postleitzahl",
    "kontonummer",
    "kartennummer",
    "steuernummer",
    "codepostal",
    "numerodecompte",
    "codigopostal",
    "numerodecuenta",
    "tarjetadecredito",
    "kreditkarte",
    "cartebancaire",
    "numtarjeta",
    "numerotarjeta",
    "numcompte",
    "numerocompte",
    "numcuenta",
    "numerocuenta",
};

static bool is_sensitive(const gbx_words *w, bool is_number)
{
    static const char *const alone[] = {
        "pin",  "cvv", "cvc",  "bic",    "ip",   "ips",  "ipv", "mac",
        "acct", "zip", "iban", "postal", "imei", "imsi", "plz", "rib",
    };
    static const char *const whole[] = {"pan", "ncuenta", "ncompte"};
    static const char *const numbered[] = {"account", "card", "cc", "cell"};
    static const char *const numbers[] = {"no", "nummer", "num", "number"};

    if (is_number && is_figure(w))
        return false;
    return is_secret(w, is_number) || is_of_person(w, is_number) ||
           is_address(w, is_number) || is_name_of_person(w) ||
           gbx_tongue_is(w, GBX_TONGUE_NUMBER, is_number) ||
           gbx_words_have_part(w, sensitive_parts, GBX_COUNTOF(sensitive_parts),
                               is_number) ||
           gbx_words_have_any(w, alone, GBX_COUNTOF(alone)) ||
           gbx_words_are_any(w, whole, GBX_COUNTOF(whole)) ||
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

    bool is_in_person =
        place == GBX_SENSITIVE_PERSON || place == GBX_SENSITIVE_SOMEBODY;

    gbx_words_take(name, len, &w);
    if (place == GBX_SENSITIVE_ALL || is_sensitive(&w, is_number) ||
        (is_in_person && is_own_name(&w, is_number)))
        return GBX_SENSITIVE_ALL;
    if ((is_person(&w) || is_somebody(&w)) && !is_figure(&w))
        return is_somebody(&w) ? GBX_SENSITIVE_SOMEBODY : GBX_SENSITIVE_PERSON;
    return is_in_person && is_aspect(&w) ? GBX_SENSITIVE_PERSON : GBX_SENSITIVE_NOTHING;
}

bool gbx_sensitive_is_personal(const char *name, size_t len, bool is_number)
{
    /* Shown themselves, but of nobody else. */
    static const char *const signs[] = {
        "salary", "wage", "gehalt",     "salaire",  "salario",   "stipendio",
        "gender", "sex",  "geschlecht", "patient",  "diagnosis", "salaris",
        "sesso",  "sexo", "sexe",       "geslacht",
    };
    static const char *const machines[] = {"ip", "ipv", "mac", "host", "server"};
    gbx_words w;

    gbx_words_take(name, len, &w);
    if (is_number && is_figure(&w))
        return false;
    return is_of_person(&w, is_number) ||
           gbx_words_have_any(&w, signs, GBX_COUNTOF(signs)) ||
           (is_address(&w, is_number) &&
            !gbx_words_have_any(&w, machines, GBX_COUNTOF(machines)));
}

bool gbx_sensitive_is_secret(const char *name, size_t len, bool is_number)
{
    gbx_words w;

    gbx_words_take(name, len, &w);
    return is_secret(&w, is_number);
}
