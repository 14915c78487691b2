/** Reads the certificates of a coordinator. Creates and renews nothing. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { CoordinatorSettings } from '../../coordinator-settings.js';
import type { ServingCertificateFact } from '../../decisions/doctor/coordinator-facts.js';
import { memberServer } from '../../server-addresses.js';

interface CertificateFile {
  what: string;
  path: string;
  isOwn: boolean;
  /** Names that clients use. */
  names: readonly string[];
}

/** Own certificates that do not exist yet are left out: the first start creates them. */
export async function certificateFacts(settings: CoordinatorSettings): Promise<ServingCertificateFact[]> {
  const facts = await Promise.all(filesOf(settings).map(readFact));
  return facts.filter((fact) => fact !== undefined);
}

function filesOf(settings: CoordinatorSettings): CertificateFile[] {
  const { data, advertise, tlsCertFile, etcdCert } = settings;
  const supplied = (path: string | undefined, flag: string, names: readonly string[]): CertificateFile[] =>
    path === undefined ? [] : [{ what: `the certificate of ${flag}`, path, isOwn: false, names }];
  const own = (name: string, what: string, names: readonly string[]): CertificateFile => ({
    ...{ what, path: join(data, 'pki', name), isOwn: true, names },
  });
  // Of a supplied certificate, only the name that the operator advertises is certain to be used.
  const serving = tlsCertFile
    ? supplied(tlsCertFile, '--tls-cert-file', advertise ? [advertise] : [])
    : [own('serving.pem', 'the serving certificate', [hostname(), new URL(memberServer(settings)).hostname])];
  return [
    own('ca.crt', 'the certificate of the authority', []),
    ...serving,
    ...supplied(etcdCert, '--etcd-cert', []),
  ];
}

async function readFact({
  what,
  path,
  isOwn,
  names,
}: CertificateFile): Promise<ServingCertificateFact | undefined> {
  try {
    const certificate = new X509Certificate(await readFile(path));
    const bare = names.map((name) => name.replace(/^\[|\]$/g, ''));
    return {
      what,
      startsAt: Date.parse(certificate.validFrom),
      endsAt: Date.parse(certificate.validTo),
      missingNames: [...new Set(bare)].filter((name) => !hasName(certificate, name)),
      isOwn,
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return isOwn && code === 'ENOENT' ? undefined : { what, reason: message };
  }
}

function hasName(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined;
}
