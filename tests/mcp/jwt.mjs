// SPDX-License-Identifier: MIT
// jwt: keys of an issuer, and tokens that they sign.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';

const text = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A key pair; jwk is the public one, for a key set. */
export function keyOf(id, alg = 'ES256', options = {}) {
  const { privateKey, publicKey } = alg.startsWith('ES')
    ? generateKeyPairSync('ec', { namedCurve: { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg] })
    : generateKeyPairSync('rsa', { modulusLength: 2048, ...options });
  return { id, alg, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid: id, alg, use: 'sig' } };
}

/** A token with these claims. header: besides alg and kid, or instead of them. */
export function tokenOf(key, claims, header = {}) {
  const all = { alg: key.alg, typ: 'at+jwt', kid: key.id, ...header };
  const signed = `${text(all)}.${text(claims)}`;
  const hash = `sha${all.alg.slice(-3)}`;
  const how = { ES: { dsaEncoding: 'ieee-p1363' }, PS: { padding: 6, saltLength: -1 } }[all.alg.slice(0, 2)] ?? {};
  const signature = all.alg === 'none' ? Buffer.alloc(0)
    : all.alg.startsWith('HS') ? createHmac(hash, JSON.stringify(key.jwk)).update(signed).digest()
      : sign(hash, signed, { key: key.privateKey, ...how });
  return `${signed}.${signature.toString('base64url')}`;
}
