/** Certificates of a test's etcd, made by openssl. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsPaths } from '../../../coordinator/store/replica/etcd/etcd-access.js';

export interface EtcdTestPki {
  readonly server: TlsPaths;
  readonly client: TlsPaths;
}

interface EtcdTestPkiOptions {
  /** Addresses of the members. */
  readonly addresses?: readonly string[];
  /** Variables of openssl. */
  readonly environment?: Readonly<Record<string, string>>;
}

const KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

/** Writes an authority, a server certificate and a client certificate to `directory`. They are valid for 3 days. */
export function etcdTestPki(
  directory: string,
  { addresses = ['127.0.0.1'], environment = {} }: EtcdTestPkiOptions = {},
): EtcdTestPki {
  const openssl = (args: string): void => {
    const env = { ...process.env, ...environment };
    execFileSync('openssl', args.split(' '), { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  openssl(`req -x509 ${KEY} -keyout ca.key -out ca.pem -days 3 -subj /CN=etcd-test-ca`);
  const names = addresses.map((address) => `IP:${address}`).join(',');
  writeFileSync(
    join(directory, 'server.ext'),
    `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth`,
  );
  writeFileSync(join(directory, 'client.ext'), 'extendedKeyUsage=clientAuth');
  for (const name of ['server', 'client']) {
    openssl(`req ${KEY} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
    const sign = `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial`;
    openssl(`${sign} -out ${name}.pem -days 3 -extfile ${name}.ext`);
  }
  const caFile = join(directory, 'ca.pem');
  const of = (name: string): TlsPaths => ({
    caFile,
    certFile: join(directory, `${name}.pem`),
    keyFile: join(directory, `${name}.key`),
  });
  return { server: of('server'), client: of('client') };
}
