/** Certificates of a test's etcd, made by openssl. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsPaths } from '../../../coordinator/store/replica/etcd/etcd-access.js';

export interface EtcdTestPki {
  readonly server: TlsPaths;
  readonly client: TlsPaths;
}

function openssl(directory: string, args: string): void {
  execFileSync('openssl', args.split(' '), { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
}

const KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

/** Writes an authority, a server certificate for 127.0.0.1 and a client certificate to `directory`. */
export function etcdTestPki(directory: string): EtcdTestPki {
  openssl(directory, `req -x509 ${KEY} -keyout ca.key -out ca.pem -days 2 -subj /CN=etcd-test-ca`);
  writeFileSync(
    join(directory, 'server.ext'),
    'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth',
  );
  writeFileSync(join(directory, 'client.ext'), 'extendedKeyUsage=clientAuth');
  for (const name of ['server', 'client']) {
    openssl(directory, `req ${KEY} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
    const sign = `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial`;
    openssl(directory, `${sign} -out ${name}.pem -days 2 -extfile ${name}.ext`);
  }
  const caFile = join(directory, 'ca.pem');
  const of = (name: string): TlsPaths => ({
    caFile,
    certFile: join(directory, `${name}.pem`),
    keyFile: join(directory, `${name}.key`),
  });
  return { server: of('server'), client: of('client') };
}
