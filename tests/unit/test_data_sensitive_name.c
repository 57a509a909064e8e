/* SPDX-License-Identifier: MIT */
/* What is masked in a description by the name of its field, and what is left alone. */
#include "base/cleanup.h"
#include "mcp/data/sensitive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_names__of_what_nobody_shows(void **state)
{
    static const char *const names[] = {
        "password",
        "license_key",
        "productKey",
        "master-key",
        "activation_code",
        "webhook",
        "slack_webhook_url",
        "connectionString",
        "puk",
        "wpa_psk",
        "vat_id",
        "insurance_number",
        "userPassword",
        "PASSWORD_HASH",
        "api_key",
        "apiKey",
        "API-KEY",
        "accessToken",
        "e-mail",
        "Email",
        "customer_email",
        "emailAddr",
        "phone",
        "mobilePhone",
        "tel",
        "ssn",
        "iban",
        "card_number",
        "cardNumber",
        "creditCard",
        "cvv",
        "pin",
        "date_of_birth",
        "firstName",
        "last_name",
        "customerName",
        "patients_name",
        "name of contact",
        "ip",
        "client-ip",
        "homeAddress",
        "session_id",
        "Authorization",
        "cookie",
        "postcode",
        "zip",
        "shippingPostalCode",
        "acct",
        "acct_no",
        "account_no",
        "accountNum",
        "mfa",
        "mfa_code",
        "AccountKey",
        "given_name",
        "familyName",
        "fname",
        "accountHolder",
        "cc_number",
        "encryption_key",
        "ssh-key",
        "pw",
        "cvc2",
        "addr",
        "postal",
        "born",
        "routing_number",
        "birth",
        "birth_info",
        "birthplace",
        "yearOfBirth",
        "ipv4",
        "client_ipv6",
        "remoteIp4",
        "clientip",
        "allowed_ips",
        "ipAddr",
        "macAddress",
        "username",
        "forename",
        "sort_code",
        "bankAccount",
        "drivers_license",
        "drivingLicence",
        "imei",
        "last_used_password",
        "tokens",
        "mobilephone",
        "useremail",
        "security_answer",
        "Passwort",
        "kennwort",
        "contrase\xc3\xb1"
        "a",
        "CONTRASE\xc3\x91"
        "A",
        "mot_de_passe",
        "Nachname",
        "Geburtsdatum",
        "kontonummer",
        "Telefonnummer",
        "t\xc3\xa9l\xc3\xa9phone",
        "pr\xc3\xa9nom",
        "direcci\xc3\xb3n",
        "nombre_cliente",
        "Stra\xc3\x9f"
        "e",
        "address1",
        "address_2",
        "Billing Address1",
        "phone2",
        "ip4",
        "pin1",
        "mac",
        "MAC1",
        "mnemonic",
        "seed_phrase",
        "card_no",
        "cardno",
        "cc_num",
        "nationalInsuranceNumber",
        "Ausweisnummer",
        "Handynummer",
        "mobil",
        "Billing Name",
        "shipping_name",
        "displayName",
        "legal_name",
        "CUST_NAME",
        "customername",
        "Kundenname",
        "nickname",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (!gbx_sensitive_name(names[i], strlen(names[i]), false))
            fail_msg("%s", names[i]);
}

static void test_names__of_ordinary_fields(void **state)
{
    static const char *const names[] = {
        "id",         "name",         "total",      "shipping",      "spin",
        "hotel",      "key",          "keyword",    "author",        "ship",
        "compass",    "price",        "status",     "created_at",    "description",
        "",           "\xc3\xa4rger", "tags",       "account_notes", "zipped",
        "ipsum",      "chips",        "tips",       "swift",         "headphones",
        "microphone", "nom_produit",  "direction",  "machine",       "postcard",
        "card_color", "mobility",     "sha256",     "line1",         "file_name",
        "hostname",   "filename",     "Firmenname", "company_name",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (gbx_sensitive_name(names[i], strlen(names[i]), false))
            fail_msg("%s", names[i]);
}

static void test_names__of_forms_in_several_languages(void **state)
{
    static const char *const names[] = {
        "Geb.-Datum",
        "GebDatum",
        "Geb. am",
        "Geboren am",
        "N\xc3\xa9 le",
        "fecha_nac",
        "nacido_el",
        "D.O.B.",
        "Patient d.o.b",
        "bday",
        "yob", /* births */
        "Card Name",
        "NameOnCard",
        "name_on_card",
        "PAN",
        "card_pan",
        "Kreditkarte",
        "Kreditkartennr",
        "Kartennr.",
        "security_code",
        "carte_bancaire", /* cards */
        "Kontonr.",
        "Konto-Nr.",
        "KontoNr",
        "RIB",
        "num_compte",
        "n\xc2\xba cuenta", /* accounts */
        "sms_code",
        "verification_code",
        "recovery_codes",
        "backup_codes",
        "passcode",
        "PSWD",
        "privkey",
        "clave",
        "cred",
        "clave_acceso", /* what opens something */
        "Sozialversicherungsnummer",
        "SV-Nummer",
        "SVNR",
        "NIR",
        "NIE",
        "NIF",
        "CPF",
        "num\xc3\xa9ro de s\xc3\xa9"
        "curit\xc3\xa9 sociale",
        "Steuer-ID",
        "Steuernr",
        "Reisepass",
        "Passnummer",
        "Passnr.",
        "F\xc3\xbchrerschein",
        "KVNR",
        "MRN",
        "medical_record_number", /* identities */
        "Rufnr.",
        "Festnetz",
        "celular",
        "cell",
        "cell_no",
        "Familienname",
        "first_nm",
        "Mailadresse",
        "calle",
        "rue",
        "Str.",
        "x_forwarded_for",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (!gbx_sensitive_name(names[i], strlen(names[i]), false))
            fail_msg("%s", names[i]);
}

static void test_names__that_only_look_like_those(void **state)
{
    static const char *const names[] = {
        "n_elements",    "nelement",       "nie_bestellt",
        "panel",         "pan_tilt",       "cell_color",
        "string",        "structure",      "ribbon",
        "credit",        "clave_producto", "Artikelnr.",
        "Rechnungs-Nr.", "Kundennr",       "nr",
        "x_y",           "a.b.c",          "rueda",
        "card_type",     "gebaeude",       "code",
        "status_code",   "hausboot",       "reported",
        "cells",         "e.g.",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (gbx_sensitive_name(names[i], strlen(names[i]), false))
            fail_msg("%s", names[i]);
    assert_false(gbx_sensitive_name("str", 3, true));
}

static void test_names__of_numbers_that_say_how_many(void **state)
{
    static const char *const names[] = {
        "token_count",    "maxTokens",       "prompt_tokens", "completion_tokens",
        "tokens",         "password_length", "mfa_count",     "birth_rate",
        "births",         "phones_sold",     "email_sent",    "emails",
        "cost_per_token", "secrets",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++) {
        if (gbx_sensitive_name(names[i], strlen(names[i]), true))
            fail_msg("%s", names[i]);
        assert_true(gbx_sensitive_name(names[i], strlen(names[i]), false));
    }
}

static void test_names__of_numbers_that_nobody_shows(void **state)
{
    static const char *const names[] = {
        "phone",       "pin",         "ssn", "token",      "password",
        "yearOfBirth", "card_number", "zip", "account_no", "cvv",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (!gbx_sensitive_name(names[i], strlen(names[i]), true))
            fail_msg("%s", names[i]);
}

static void test_a_name__is_of_a_person_in_the_profile_of_one_too(void **state)
{
    gbx_sensitive_place user, profile;
    (void)state;

    assert_int_equal(gbx_sensitive_below(GBX_SENSITIVE_NOTHING, "profile", 7, false),
                     GBX_SENSITIVE_NOTHING);
    user = gbx_sensitive_below(GBX_SENSITIVE_NOTHING, "user", 4, false);
    profile = gbx_sensitive_below(user, "profile", 7, false);

    assert_int_equal(profile, GBX_SENSITIVE_PERSON);
    assert_int_equal(gbx_sensitive_below(profile, "name", 4, false), GBX_SENSITIVE_ALL);
    assert_int_equal(gbx_sensitive_below(profile, "plan", 4, false),
                     GBX_SENSITIVE_NOTHING);
}

static void test_a_text__is_a_name_where_the_person_is_what_it_is_of(void **state)
{
    static const char *const persons[] = {
        "customer",     "client",   "Contact 1",     "assigned_employee", "assignee",
        "attendees",    "patients", "account_owner", "Kontoinhaber",      "people",
        "Auftraggeber", "Mieter",   "titulaire",     "Reporter",          "Assigned To",
    };
    static const char *const others[] = {"customer_type", "user_agent", "member_since",
                                         "guest_count",   "product",    "kundentyp"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++)
        assert_int_equal(gbx_sensitive_below(GBX_SENSITIVE_NOTHING, persons[i],
                                             strlen(persons[i]), false),
                         GBX_SENSITIVE_SOMEBODY);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++)
        assert_true(gbx_sensitive_below(GBX_SENSITIVE_NOTHING, others[i],
                                        strlen(others[i]),
                                        false) < GBX_SENSITIVE_SOMEBODY);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names__of_what_nobody_shows),
        cmocka_unit_test(test_names__of_ordinary_fields),
        cmocka_unit_test(test_names__of_forms_in_several_languages),
        cmocka_unit_test(test_names__that_only_look_like_those),
        cmocka_unit_test(test_names__of_numbers_that_say_how_many),
        cmocka_unit_test(test_names__of_numbers_that_nobody_shows),
        cmocka_unit_test(test_a_name__is_of_a_person_in_the_profile_of_one_too),
        cmocka_unit_test(test_a_text__is_a_name_where_the_person_is_what_it_is_of),
    };

    return cmocka_run_group_tests_name("sensitive names", tests, NULL, NULL);
}
