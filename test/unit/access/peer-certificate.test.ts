import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createHash, webcrypto, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { X509CertificateGenerator } from '@peculiar/x509';
import { plainSubject, subjectOf } from '../../../coordinator/pki/peer-certificate.js';
import { publicKeyHash, publicKeyInfo } from '../../../shared/link/public-key-hash.js';

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const EC = (namedCurve: string) => ({ name: 'ECDSA', namedCurve, hash: 'SHA-256' });

async function certificate(name: string, algorithm: typeof RSA | ReturnType<typeof EC> = EC('P-256')) {
  const keys = await webcrypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const made = await X509CertificateGenerator.createSelfSigned({ name, keys, signingAlgorithm: algorithm });
  return new X509Certificate(made.toString('pem'));
}

describe('the public key of a certificate', () => {
  const algorithms = { 'P-256': EC('P-256'), 'P-521': EC('P-521'), RSA };
  for (const [what, algorithm] of Object.entries(algorithms)) {
    test(`${what} equals what OpenSSL exports`, async () => {
      const made = await certificate('CN=a', algorithm);
      const exported = made.publicKey.export({ type: 'spki', format: 'der' });
      assert.deepEqual(publicKeyInfo(made.raw), exported);
      assert.equal(publicKeyHash(made), createHash('sha256').update(exported).digest('hex'));
    });
  }

  test('is undefined where the certificate is truncated', async () => {
    const { raw } = await certificate('CN=a');
    for (const length of [0, 1, 5, 40, 150]) {
      assert.throws(() => publicKeyInfo(raw.subarray(0, length)), RangeError);
    }
  });
});

const NAMES = [
  'CN=system:node:n1, O=system:nodes',
  'O=system:nodes, CN=system:node:n1',
  'CN=alice, O=a, O=b.c-d_e',
  'CN=alice+O=a',
  'CN=Anna Lena, O=Küche',
  'CN="a\\0AO=system:nodes"',
  'CN=#1e0a00610062000a00430044',
  'CN=x\\, O\\=system:masters',
  'OU=u, CN=a',
  'O=nobody',
];

describe('the subject of a certificate', () => {
  for (const name of NAMES) {
    test(`${name} is parsed as OpenSSL parses it`, async () => {
      const made = await certificate(name);
      const { CN, O } = (made.toLegacyObject().subject ?? {}) as unknown as Record<string, unknown>;
      const plain = plainSubject(made.subject);
      const asList = (value: unknown) => (value === undefined ? [] : [value].flat());
      if (plain) assert.deepEqual(plain, { CN: asList(CN), O: asList(O) });
      const known = subjectOf(made);
      assert.deepEqual(
        known && [[known.commonName], known.organizations],
        asList(CN).length === 1 ? [asList(CN), asList(O)] : undefined,
      );
    });
  }

  test('of a node is plain: each link reads one', () => {
    const parts = plainSubject('O=system:nodes\nCN=system:node:n-1.example');
    assert.deepEqual(parts, { CN: ['system:node:n-1.example'], O: ['system:nodes'] });
    for (const text of ['CN=a + O=b', 'CN=a b', 'CN=a\\0AO=b', 'OU=a', '', 'CN=']) {
      assert.equal(plainSubject(text), undefined, text);
    }
  });
});
