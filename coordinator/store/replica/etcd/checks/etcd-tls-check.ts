/** Checks the certificate files of etcd before a connection is made. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { TlsPaths } from '../etcd-access.js';
import { EtcdRefused } from './etcd-refused.js';

/** Throws EtcdRefused `environment` that names the file. `now`: ms since the epoch. */
export function checkTlsFiles({ caFile, certFile, keyFile }: TlsPaths, now: number): void {
  const ca = readPem(caFile, '--etcd-ca');
  const cert = readPem(certFile, '--etcd-cert');
  const key = readPem(keyFile, '--etcd-key');
  expectCertificate(ca, caFile, '--etcd-ca');
  const client = expectCertificate(cert, certFile, '--etcd-cert');
  if (Date.parse(client.validTo) < now)
    throw refused(`the certificate in ${certFile} (--etcd-cert) has expired on ${client.validTo}`);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (code.includes('KEY_VALUES_MISMATCH'))
      throw refused(
        `the key in ${keyFile} (--etcd-key) belongs to another certificate than ${certFile} (--etcd-cert)`,
      );
    throw refused(`${keyFile} (--etcd-key) contains no usable private key in PEM`);
  }
}

function readPem(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw refused(`cannot read ${path} (${option}): ${(error as { code?: string }).code ?? String(error)}`);
  }
}

/** Returns the first certificate of the file. */
function expectCertificate(pem: string, path: string, option: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw refused(`${path} (${option}) contains no certificate in PEM`);
  }
}

function refused(sentence: string): EtcdRefused {
  return new EtcdRefused('environment', sentence);
}
