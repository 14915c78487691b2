/** Builds releases of the agent and signs them with a new key. */
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The releases' name of this machine's architecture. */
export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** Builds a release as a user would, but compressed quickly and for this machine's architecture alone. `only`: [] is all. */
export function makeRelease(out: string, key: string, version: string, only: readonly string[]): void {
  const flags = ['--key', key, '--arch', ARCHITECTURE, '--fast', '--complete', '--version', version];
  const kinds = only.length > 0 ? ['--only', only.join(',')] : [];
  execFileSync(process.execPath, [resolve('release/release.mjs'), ...flags, ...kinds, '--out', out], {
    stdio: 'ignore',
  });
}

const HANGS = '#!/bin/sh\n[ "$1" = --version ] && echo 0.3.0 && exit\nexec sleep 100000\n';

/**
 * Creates a folder for each release in `out`: 0.1.0 and 0.2.0 are agents; 0.3.0 prints its version and hangs. Writes
 * the key to `key`.
 */
export function makeReleases(out: string, key: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  for (const version of ['0.1.0', '0.2.0']) makeRelease(join(out, version), key, version, ['agents']);
  const broken = join(out, '0.3.0');
  const name = `everynode-agent-0.3.0-linux-${ARCHITECTURE}.gz`;
  const archive = gzipSync(HANGS);
  const sums = `${createHash('sha256').update(archive).digest('hex')}  ${name}\n`;
  mkdirSync(broken);
  writeFileSync(join(broken, name), archive);
  writeFileSync(join(broken, 'SHA256SUMS'), sums);
  writeFileSync(join(broken, 'SHA256SUMS.sig'), sign(null, Buffer.from(sums), privateKey).toString('base64'));
  writeFileSync(join(broken, 'release.pub'), readFileSync(join(out, '0.1.0/release.pub')));
}
