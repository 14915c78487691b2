/** Certificates of an etcd on this machine, signed by an authority of its own: hosts and kubectl never trust it. */
import { dirname } from 'node:path';
import { makePrivateDirectory, writePrivateFile } from '../../../shared/process/files/private-file.js';
import { generateKeyPem } from '../../../shared/process/files/private-key.js';
import { makeCaCertificate } from '../../pki/ca-certificate.js';
import type { KeyPair } from '../../pki/key-pair.js';
import { issueMachineCertificate } from '../../pki/machine-certificate.js';
import { type EtcdPaths, LOOPBACK } from './cluster-layout.js';

/**
 * Writes new certificates of a new authority. Called before each start of etcd, whose members and clients all read them
 * then, so they never expire and a damaged file is replaced. The authority's key is not stored.
 */
export async function writeEtcdCertificates(paths: EtcdPaths, now: number): Promise<void> {
  const key = await generateKeyPem();
  const ca: KeyPair = { key, cert: await makeCaCertificate(key, now, 'CN=everynode-etcd-ca') };
  const names = [LOOPBACK, 'localhost'];
  const server = await issueMachineCertificate(ca, { commonName: 'etcd', names }, now);
  const client = await issueMachineCertificate(ca, { commonName: 'everynode-coordinator', names }, now);
  makePrivateDirectory(dirname(paths.ca));
  const files = {
    [paths.ca]: ca.cert,
    [paths.serverCert]: server.cert,
    [paths.serverKey]: server.key,
    [paths.clientCert]: client.cert,
    [paths.clientKey]: client.key,
  };
  for (const [path, text] of Object.entries(files)) await writePrivateFile(path, text);
}
