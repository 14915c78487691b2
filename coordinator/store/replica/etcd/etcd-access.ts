/** How to reach etcd. */
import { readFileSync } from 'node:fs';

export type EtcdAccess = {
  /** `https://HOST:PORT`; `http://HOST:PORT` only on loopback. All have the same scheme. */
  readonly endpoints: readonly string[];
} & ({ readonly isSecure: false } | ({ readonly isSecure: true } & TlsPaths));

/** Paths of PEM files. */
export interface TlsPaths {
  /** Authority of etcd's certificates. */
  readonly caFile: string;
  /** Client certificate. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** Contents of the PEM files. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Reads the files; undefined without TLS. Throws an error of the file system. */
export function readTlsFiles(access: EtcdAccess): TlsFiles | undefined {
  if (!access.isSecure) return undefined;
  return {
    ca: readFileSync(access.caFile, 'utf8'),
    cert: readFileSync(access.certFile, 'utf8'),
    key: readFileSync(access.keyFile, 'utf8'),
  };
}
