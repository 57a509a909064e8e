/* SPDX-License-Identifier: MIT */
/*
 * sensitive_tongue - see sensitive_tongue.h. A word that means something harmless in another
 * of the languages is looked up only as the whole name, or only beside what tells it apart.
 */
#include "mcp/data/sensitive_tongue.h"

#include "base/cleanup.h"

#include <string.h>

/* Where a word of the name begins or ends. */
static const char *const secret_parts[] = {
    /* Italian, Portuguese */
    "paroladordine",
    "chiaveapi",
    "chiaveprivata",
    "chiavesegreta",
    "chiaveaccesso",
    "chiavediaccesso",
    "codiceaccesso",
    "codicediaccesso",
    "credenzial",
    "palavrapasse",
    "palavradepasse",
    "chaveapi",
    "chavedeapi",
    "chaveprivada",
    "chavesecreta",
    "chaveacesso",
    "chavedeacesso",
    "codigodeacesso",
    "credenciais",
    /* Dutch, German */
    "wachtwoord",
    "geheimnis",
    "toegangscode",
    "toegangssleutel",
    "apisleutel",
    "privesleutel",
    "beveiligingscode",
    "inloggegevens",
    "apischlussel",
    "apischluessel",
    "zugangscode",
    "zugangsdaten",
    "zugangsschlussel",
    "zugangsschluessel",
    "privaterschlussel",
    "privaterschluessel",
    "geheimerschlussel",
    "geheimerschluessel",
    "lizenzschlussel",
    "lizenzschluessel",
    "sicherheitscode",
    "geheimzahl",
    /* French, Spanish */
    "cleapi",
    "clefapi",
    "cledapi",
    "cleprivee",
    "clefprivee",
    "cledacces",
    "cleacces",
    "codedacces",
    "codeacces",
    "phrasesecrete",
    "claveprivada",
    "claveapi",
    "clavedeapi",
    "codigodeacceso",
    "codigoacceso",
    "codigodeseguridad",
    "codigoseguridad",
    "credencial",
};
static const char *const secret_alone[] = {
    "senha", "senhas", "segredo", "segreto", "segreti", "jeton", "jetons", "geheim",
};

static const char *const personal_parts[] = {
    /* names */
    "cognome",
    "sobrenome",
    "apelido",
    "primeironome",
    "ultimonome",
    "nomedamae",
    "nomemae",
    "nomedopai",
    "voornaam",
    "voorletters",
    "roepnaam",
    "achternaam",
    "familienaam",
    "tussenvoegsel",
    "patronyme",
    /* telephones */
    "telefoon",
    "mobielnummer",
    "telemovel",
    "cellulare",
    "numerocell",
    "telportable",
    "numeroportable",
    "numerodeportable",
    "handynr",
    /* birth */
    "nascita",
    "nascimento",
    "dtnasc",
    "datanasc",
    "geboorte",
    /* by what a state or an insurance knows somebody */
    "codicefiscale",
    "codfiscale",
    "codfisc",
    "partitaiva",
    "cartaidentita",
    "cartadidentita",
    "tesserasanitaria",
    "passaport",
    "patentediguida",
    "segurancasocial",
    "cartaocidadao",
    "cartaodecidadao",
    "cartaodocidadao",
    "carteiradeidentidade",
    "tituloeleitor",
    "titulodeeleitor",
    "burgerservicen",
    "sofinummer",
    "rijksregister",
    "paspoort",
    "rijbewijs",
    "identiteitskaart",
    "personalausweis",
    "krankenversicherungsnummer",
    "passeport",
    "permisdeconduire",
    "cartedidentite",
    "numerofiscal",
    "pasaporte",
    "seguridadsocial",
    "licenciadeconducir",
    "numeroidentificacion",
    "numerodeidentificacion",
};
static const char *const personal_alone[] = {
    "bsn", "niss", "cnpj", "contribuinte", "mobiel", "cedula", "cuit", "cuil",
};
static const char *const personal_whole[] = {
    "natoil", "natail", "nss", "rut", "piva",
};

static const char *const address_parts[] = {
    "indirizzo",  "endereco",     "logradouro",   "straat",       "huisnummer",
    "woonadres",  "postadres",    "numerocivico", "emailadres",   "huisadres",
    "thuisadres", "factuuradres", "bezorgadres",  "afleveradres",
};
static const char *const address_alone[] = {
    "adres", "morada", "domicilio", "residenza", "rua",
};
static const char *const address_texts[] = {"via"}; /* and nothing else, nor a number */

static const char *const number_parts[] = {
    "numeroconto",       "numerodiconto",   "contocorrente",  "numerocarta",
    "numerodicarta",     "cartadicredito",  "cartacredito",   "codicesicurezza",
    "codicedisicurezza", "codicepostale",   "nomeutente",     "nomecompleto",
    "numeroconta",       "numerodaconta",   "contabancaria",  "contacorrente",
    "numerocartao",      "numerodocartao",  "numerodecartao", "cartaocredito",
    "cartaodecredito",   "chavepix",        "rekeningnummer", "bankrekening",
    "kaartnummer",       "creditkaart",     "gebruikersnaam", "volledigenaam",
    "kenteken",          "pincode",         "kfzkennzeichen", "autokennzeichen",
    "cuentabancaria",    "cuentacorriente", "tarjetacredito", "numerodetarjeta",
    "nombrecompleto",    "numerocarte",     "numerodecarte",  "numcarte",
    "cartedecredit",     "cartecredit",     "comptebancaire", "nomcomplet",
};
static const char *const number_alone[] = {"clabe"};
static const char *const number_texts[] = {"cap",
                                           "cep"}; /* as numbers they are limits */

typedef struct list {
    const char *const *words;
    size_t count;
} list;

#define LIST(words)                 \
    {                               \
        (words), GBX_COUNTOF(words) \
    }

static const struct {
    list parts; /* begin where a word does, or end one */
    list alone; /* words */
    list whole; /* names */
    list texts; /* names of what is no number */
} kinds[] = {
    [GBX_TONGUE_SECRET] = {.parts = LIST(secret_parts), .alone = LIST(secret_alone)},
    [GBX_TONGUE_PERSONAL] = {.parts = LIST(personal_parts),
                             .alone = LIST(personal_alone),
                             .whole = LIST(personal_whole)},
    [GBX_TONGUE_ADDRESS] = {.parts = LIST(address_parts),
                            .alone = LIST(address_alone),
                            .texts = LIST(address_texts)},
    [GBX_TONGUE_NUMBER] = {.parts = LIST(number_parts),
                           .alone = LIST(number_alone),
                           .texts = LIST(number_texts)},
};

/* ---- public to other modules -------------------------------------------- */

bool gbx_tongue_is(const gbx_words *w, gbx_tongue_kind kind, bool is_number)
{
    const list *parts = &kinds[kind].parts, *alone = &kinds[kind].alone;
    const list *whole = &kinds[kind].whole, *texts = &kinds[kind].texts;

    return gbx_words_have_part(w, parts->words, parts->count, is_number) ||
           gbx_words_have_any(w, alone->words, alone->count) ||
           gbx_words_are_any(w, whole->words, whole->count) ||
           (!is_number && gbx_words_are_any(w, texts->words, texts->count));
}

bool gbx_tongue_is_person_word(const char *word)
{
    static const char *const persons[] = {
        "utente",         "utenti",         "dipendente",   "dipendenti",
        "paziente",       "pazienti",       "clienti",      "titolare",
        "intestatario",   "mittente",       "destinatario", "venditore",
        "acquirente",     "utilizador",     "funcionario",  "titular",
        "proprietario",   "remetente",      "vendedor",     "comprador",
        "propietario",    "remitente",      "contacto",     "klant",
        "klanten",        "medewerker",     "werknemer",    "gebruiker",
        "ontvanger",      "afzender",       "eigenaar",     "verkoper",
        "huurder",        "contactpersoon", "deelnemer",    "verzekerde",
        "rekeninghouder", "verkaufer",      "verkaeufer",   "kaufer",
        "kaeufer",        "verfasser",      "absender",     "vendeur",
        "acheteur",       "expediteur",     "proprietaire", "locataire",
        "employe",        "beneficiaire",
    };

    for (size_t i = 0; i < GBX_COUNTOF(persons); i++) {
        size_t len = strlen(persons[i]);

        if (word[0] == persons[i][0] && strncmp(word, persons[i], len) == 0 &&
            (word[len] == 0 || strcmp(word + len, "s") == 0))
            return true;
    }
    return false;
}
