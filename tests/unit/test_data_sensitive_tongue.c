/* SPDX-License-Identifier: MIT */
/* What is masked by names that are Dutch, French, German, Italian, Portuguese or Spanish. */
#include "base/cleanup.h"
#include "mcp/data/sensitive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool is_name(const char *name, bool is_number)
{
    return gbx_sensitive_name(name, strlen(name), is_number);
}

static gbx_sensitive_place below(gbx_sensitive_place place, const char *name)
{
    return gbx_sensitive_below(place, name, strlen(name), false);
}

static void test_names__of_what_nobody_shows_in_six_languages(void **state)
{
    static const char *const names[] = {
        "senha",
        "senha_hash",
        "Senha do usu\xc3\xa1rio",
        "segredo",
        "palavra_passe",
        "palavra-passe",
        "chave_api",
        "chave_acesso",
        "chave privada",
        "chiave_api",
        "chiaveSegreta",
        "Parola d'ordine",
        "credenziali",
        "Wachtwoord",
        "wachtwoordHash",
        "geheim",
        "api_sleutel",
        "toegangscode",
        "inloggegevens",
        "API-Schl\xc3\xbcssel",
        "privater_schluessel",
        "Zugangsdaten",
        "Geheimnis",
        "cl\xc3\xa9_api",
        "clef_privee",
        "cl\xc3\xa9 d'acc\xc3\xa8s",
        "jeton_acces",
        "clave_api",
        "clave_privada",
        "codigo_de_seguridad",
        "codice_fiscale",
        "codiceFiscale",
        "Cod. Fiscale",
        "Partita IVA",
        "Carta d'identit\xc3\xa0",
        "cellulare",
        "numero_telefono",
        "telem\xc3\xb3vel",
        "indirizzo",
        "endere\xc3\xa7o",
        "morada",
        "logradouro",
        "rua",
        "CEP",
        "CAP",
        "cognome",
        "Nome completo",
        "nome_cliente",
        "nome_utente",
        "sobrenome",
        "apelido",
        "primeiro_nome",
        "nome_da_mae",
        "data_di_nascita",
        "luogoDiNascita",
        "nato_il",
        "data_nascimento",
        "dt_nasc",
        "CNPJ",
        "NISS",
        "contribuinte",
        "numero_conta",
        "conta_bancaria",
        "numero_cartao",
        "cartao_de_credito",
        "carta_di_credito",
        "conto_corrente",
        "chave_pix",
        "voornaam",
        "achternaam",
        "tussenvoegsel",
        "volledige_naam",
        "klantnaam",
        "klant_naam",
        "naam_klant",
        "gebruikersnaam",
        "emailadres",
        "telefoonnummer",
        "mobiel",
        "adres",
        "straatnaam",
        "Huisnr.",
        "geboortedatum",
        "BSN",
        "burgerservicenummer",
        "rekeningnummer",
        "kaartnummer",
        "paspoortnummer",
        "rijbewijsnummer",
        "kenteken",
        "pincode",
        "nombre_completo",
        "domicilio",
        "c\xc3\xa9"
        "dula",
        "RUT",
        "pasaporte",
        "n\xc2\xb0 de passeport",
        "nom_complet",
        "Personalausweisnr",
        "Kfz-Kennzeichen",
        "Verk\xc3\xa4ufername",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (!is_name(names[i], false))
            fail_msg("%s", names[i]);
}

static void test_names__of_ordinary_fields_in_six_languages(void **state)
{
    static const char *const names[] = {
        "nome",          "naam",         "nome_prodotto", "productnaam",
        "bestandsnaam",  "naam_product", "nome_arquivo",  "capacity",
        "cap_rate",      "recap",        "via_api",       "viable",
        "chiave",        "chave",        "sleutel",       "parola_chiave",
        "palavra_chave", "cep_version",  "concept",       "rut_depth",
        "grua",          "portable",     "jetonne",       "route",
        "patente",       "segretario",   "woonplaats",    "citta",
        "cidade",        "kleur",        "prijs",         "preco",
        "prezzo",        "quantita",     "aantal",        "sexta",
        "data",          "codice",       "codigo",        "numero",
        "conto",         "conta",        "kaart",         "carta",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (is_name(names[i], false))
            fail_msg("%s", names[i]);
}

/* BSN: 111222333; but a cap is a limit, and wachtwoorden is how many. */
static void test_numbers__are_masked_unless_they_count(void **state)
{
    (void)state;

    assert_true(is_name("bsn", true));
    assert_true(is_name("cellulare", true));
    assert_true(is_name("huisnummer", true));
    assert_true(is_name("senha", true));
    assert_false(is_name("cap", true));
    assert_false(is_name("cep", true));
    assert_false(is_name("via", true));
    assert_false(is_name("wachtwoords", true));
    assert_false(is_name("senha_length", true));
}

static void test_a_name__is_of_a_person_beside_what_only_persons_have(void **state)
{
    static const char *const signs[] = {"cognome",   "geboortedatum", "BSN",
                                        "stipendio", "Sexo",          "indirizzo"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(signs); i++)
        if (!gbx_sensitive_is_personal(signs[i], strlen(signs[i]), false))
            fail_msg("%s", signs[i]);
    assert_int_equal(below(GBX_SENSITIVE_PERSON, "nome"), GBX_SENSITIVE_ALL);
    assert_int_equal(below(GBX_SENSITIVE_PERSON, "Naam"), GBX_SENSITIVE_ALL);
    assert_int_equal(below(GBX_SENSITIVE_NOTHING, "Naam"), GBX_SENSITIVE_NOTHING);
}

static void test_a_text__is_a_name_where_the_person_is_what_it_is_of(void **state)
{
    static const char *const persons[] = {
        "klant",
        "Klanten",
        "medewerker",
        "werknemers",
        "gebruiker",
        "contactpersoon",
        "utente",
        "dipendente",
        "titolare",
        "destinatario",
        "utilizador",
        "funcion\xc3\xa1rio",
        "propriet\xc3\xa1rio",
        "titular",
        "Verk\xc3\xa4ufer",
        "Absender",
        "vendeur",
        "b\xc3\xa9n\xc3\xa9"
        "ficiaire",
        "vendedor",
    };
    static const char *const others[] = {
        "klanttype", "utente_attivo", "titular_desde",
        "verkopen",  "prodotto",      "medewerker_aantal",
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++)
        if (below(GBX_SENSITIVE_NOTHING, persons[i]) != GBX_SENSITIVE_SOMEBODY)
            fail_msg("%s", persons[i]);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++)
        if (below(GBX_SENSITIVE_NOTHING, others[i]) >= GBX_SENSITIVE_SOMEBODY)
            fail_msg("%s", others[i]);
}

static void test_a_secret__is_one_behind_its_name_in_a_text(void **state)
{
    static const char *const texts[] = {"senha: abc", "wachtwoord=abc;x=1",
                                        "{\"segreto\":\"abc\"}"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        if (!gbx_sensitive_looks(texts[i], strlen(texts[i])))
            fail_msg("%s", texts[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names__of_what_nobody_shows_in_six_languages),
        cmocka_unit_test(test_names__of_ordinary_fields_in_six_languages),
        cmocka_unit_test(test_numbers__are_masked_unless_they_count),
        cmocka_unit_test(test_a_name__is_of_a_person_beside_what_only_persons_have),
        cmocka_unit_test(test_a_text__is_a_name_where_the_person_is_what_it_is_of),
        cmocka_unit_test(test_a_secret__is_one_behind_its_name_in_a_text),
    };

    return cmocka_run_group_tests_name("sensitive tongues", tests, NULL, NULL);
}
