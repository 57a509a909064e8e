/* SPDX-License-Identifier: MIT */
/* random - the cipher keeps the stream's position: nothing is buffered here. */
#include "crypto/crypto.h"

#include "crypto/library.h"

#include <stdlib.h>
#include <string.h>

/* libcrypto counts in int. */
#define PIECE ((size_t)1 << 30)

static bool is_seeded;

/* ---- public to other modules -------------------------------------------- */

void gbx_crypto_seed(const uint8_t *key)
{
    static const uint8_t start[16];
    const gbx_libcrypto *lib = gbx_libcrypto_get();

    is_seeded = lib != NULL && key != NULL;
    if (is_seeded &&
        lib->EVP_EncryptInit_ex2(gbx_libcrypto_stream(), NULL, key, start, NULL) != 1)
        abort();
}

bool gbx_crypto_random(uint8_t *to, size_t len)
{
    if (!is_seeded)
        return false;
    memset(to, 0, len);
    while (len > 0) {
        int n = (int)(len < PIECE ? len : PIECE);

        if (gbx_libcrypto_get()->EVP_EncryptUpdate(gbx_libcrypto_stream(), to, &n, to,
                                                   n) != 1)
            abort();
        to += n;
        len -= (size_t)n;
    }
    return true;
}
