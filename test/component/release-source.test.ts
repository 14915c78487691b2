/** An agent fetches its next version: only what the pinned key has signed becomes a program. */
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ReleaseSource } from '../../agent/upgrade/release-source.js';
import { AgentFiles } from '../../coordinator/api/agent-files.js';
import { startTestApi } from '../harness/api.js';
import { temporaryDirectory } from '../harness/temporary-directory.js';

const VERSION = '1.2.3';
const PROGRAM = Buffer.from('#!/bin/sh\necho 1.2.3\n');

/** A coordinator with a release, and the source of a host that pinned its key; `spoil` changes the files. */
async function release(
  context: TestContext,
  spoil: (folder: string, name: string) => void = () => undefined,
) {
  const directory = temporaryDirectory();
  const folder = join(directory, VERSION);
  mkdirSync(folder);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const name = `everynode-agent-${VERSION}-linux-${process.arch === 'x64' ? 'amd64' : process.arch}.gz`;
  const archive = gzipSync(PROGRAM);
  const sums = `${createHash('sha256').update(archive).digest('hex')}  ${name}\n`;
  writeFileSync(join(folder, name), archive);
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  writeFileSync(join(folder, 'SHA256SUMS.sig'), sign(null, Buffer.from(sums), privateKey).toString('base64'));
  const keyFile = join(directory, 'release.pub');
  writeFileSync(keyFile, publicKey.export({ type: 'spki', format: 'pem' }));
  spoil(folder, name);
  const api = await startTestApi({ agentFiles: new AgentFiles(directory, VERSION) });
  context.after(() => api.stop());
  const source = new ReleaseSource({ server: new URL(api.url), ca: () => api.pki.ca.cert, keyFile });
  const target = join(directory, 'versions', VERSION, 'everynode-agent');
  const fetch = (version = VERSION) => source.fetch(version, target, AbortSignal.timeout(10_000));
  return { fetch, target, keyFile };
}

test('the agent of a signed release is fetched, whole and executable', async (context) => {
  const { fetch, target } = await release(context);
  await fetch();
  assert.deepEqual(readFileSync(target), PROGRAM);
  assert.equal(statSync(target).mode & 0o777, 0o755);
});

const SPOILED: [string, (folder: string, name: string) => void, RegExp][] = [
  [
    'checksums that were changed after they were signed',
    (folder, name) => writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  ${name}\n`),
    /not signed by the key/,
  ],
  [
    'a signature that is rubbish',
    (folder) => writeFileSync(join(folder, 'SHA256SUMS.sig'), 'rubbish'),
    /not signed by the key/,
  ],
  [
    'a program that is not the signed one',
    (folder, name) => writeFileSync(join(folder, name), gzipSync('#!/bin/sh\nreboot\n')),
    /not the file that the release names/,
  ],
  [
    'a program that came in part',
    (folder, name) => writeFileSync(join(folder, name), gzipSync(PROGRAM).subarray(0, 10)),
    /not the file that the release names/,
  ],
];

for (const [what, spoil, why] of SPOILED) {
  test(`nothing comes of ${what}`, async (context) => {
    const { fetch, target } = await release(context, spoil);
    await assert.rejects(fetch(), why);
    assert.equal(existsSync(target), false);
    assert.equal(existsSync(`${target}.gz`), false);
  });
}

test('a release that the coordinator does not have, and a host without a key, say so', async (context) => {
  const { fetch, keyFile } = await release(context);
  await assert.rejects(fetch('9.9.9'), /has no SHA256SUMS of release 9.9.9: status 404/);
  writeFileSync(keyFile, '');
  await assert.rejects(fetch(), /accepts no upgrades/);
});
