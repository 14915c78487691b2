/**
 * An agent installs its next version only if the pinned key has signed it, even if the coordinator serves another one.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ReleaseSource } from '../../../agent/upgrade/release-source.js';
import { AgentFiles } from '../../../coordinator/api/join/agent-downloads.js';
import { tunnelOpenerOf } from '../../../shared/link/forward-proxy/proxy-tunnel.js';
import { sharedPki, startTestApi } from '../../harness/api/api-fixture.js';
import { ForwardProxy } from '../../harness/api/forward-proxy.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { agentArchive, newReleaseKey, signRelease, storedRelease } from '../../harness/hosts/test-release.js';

const VERSION = '1.2.3';
const PROGRAM = '#!/bin/sh\necho 1.2.3\n';

/** A stored release, and the release source of a host that pinned its key. */
async function release(
  context: TestContext,
  serve: (context: TestContext, places: ReturnType<typeof storedRelease>) => Promise<string>,
) {
  const directory = temporaryDirectory();
  const key = newReleaseKey();
  const places = storedRelease(directory, VERSION, key, PROGRAM);
  const keyFile = join(directory, 'release.pub');
  writeFileSync(keyFile, key.publicKey);
  const server = new URL(await serve(context, places));
  const { ca } = await sharedPki();
  const source = new ReleaseSource({ server: () => server, ca: () => ca.cert, keyFile });
  const target = join(directory, 'versions', VERSION, 'everynode-agent');
  const fetch = (version = VERSION) => source.fetch(version, target, AbortSignal.timeout(10_000));
  return { source, fetch, target, keyFile, key, places, folder: join(places.directory, VERSION) };
}

async function coordinator(context: TestContext, places: ReturnType<typeof storedRelease>): Promise<string> {
  const api = await startTestApi({ agentFiles: new AgentFiles(places, VERSION) });
  context.after(() => api.stop());
  return api.url;
}

/** A coordinator under an attacker's control: it has the right certificate, and serves any file unchanged. */
async function takenOver(context: TestContext, places: ReturnType<typeof storedRelease>): Promise<string> {
  const { serving } = await sharedPki();
  const server = createServer({ key: serving.key, cert: serving.cert }, ({ url = '' }, answer) => {
    answer.end(readFileSync(join(places.directory, url.replace(/^\/agent\//, ''))));
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  context.after(() => server.close());
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

for (const serve of [coordinator, takenOver]) {
  test(`the agent of a signed release is fetched, complete and executable (${serve.name})`, async (context) => {
    const { fetch, target } = await release(context, serve);
    await fetch();
    assert.equal(readFileSync(target, 'utf8'), PROGRAM);
    assert.equal(statSync(target).mode & 0o777, 0o755);
  });
}

test('a release is fetched through an HTTP proxy, and only from a coordinator with the pinned authority', async (context) => {
  const { source, target } = await release(context, coordinator);
  const port = source.options.server().port;
  const proxy = await ForwardProxy.open(context, { names: { '127.0.0.1': '127.0.0.1' } });
  const tunnel = tunnelOpenerOf(new URL(proxy.url));
  const proxied = new ReleaseSource({ ...source.options, tunnel });
  await proxied.fetch(VERSION, target, AbortSignal.timeout(10_000));
  assert.equal(readFileSync(target, 'utf8'), PROGRAM);
  assert.deepEqual([...new Set(proxy.targets)], [`127.0.0.1:${port}`]);
  const foreign = new ReleaseSource({ ...source.options, tunnel, ca: () => '' });
  await assert.rejects(foreign.requireAllowed(VERSION), /certificate/);
});

const SPOILED: [string, (folder: string, name: string) => void, RegExp][] = [
  [
    'checksums that were changed after signing',
    (folder, name) => writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  ${name}\n`),
    /not signed with the key/,
  ],
  ['a release of another key', (folder) => signRelease(folder, newReleaseKey()), /not signed with the key/],
  [
    'an invalid signature',
    (folder) => writeFileSync(join(folder, 'SHA256SUMS.sig'), 'rubbish'),
    /not signed with the key/,
  ],
  [
    'a program other than the signed one',
    (folder, name) => writeFileSync(join(folder, name), gzipSync('#!/bin/sh\nreboot\n')),
    /does not have the checksum of the release/,
  ],
  [
    'a truncated program',
    (folder, name) => writeFileSync(join(folder, name), gzipSync(PROGRAM).subarray(0, 10)),
    /does not have the checksum of the release/,
  ],
];

for (const [what, spoil, why] of SPOILED) {
  test(`a host rejects ${what}`, async (context) => {
    const { fetch, target, folder } = await release(context, takenOver);
    spoil(folder, agentArchive(VERSION));
    await assert.rejects(fetch(), why);
    assert.equal(existsSync(target), false);
    assert.equal(existsSync(`${target}.gz`), false);
  });
}

test('a release that the coordinator lacks, and a host without a key, are reported', async (context) => {
  const { fetch, keyFile } = await release(context, coordinator);
  await assert.rejects(fetch('9.9.9'), /has no SHA256SUMS of release 9.9.9: status 404/);
  writeFileSync(keyFile, '');
  await assert.rejects(fetch(), /accepts no upgrades/);
});

test('a version below the coordinator’s minimum is neither fetched nor allowed; an unknown version is allowed', async (context) => {
  const { source, fetch, places, key } = await release(context, coordinator);
  await source.requireAllowed(VERSION);
  await source.requireAllowed('9.9.9');
  writeFileSync(places.trustFile, JSON.stringify({ key: key.publicKey, floor: '1.3.0' }));
  await assert.rejects(fetch(), /older than 1\.3\.0/);
  for (const version of [VERSION, '0.0.1']) {
    const refusal = { reason: 'RunContainerError', temporary: false, message: /older than 1\.3\.0/ };
    await assert.rejects(source.requireAllowed(version), refusal);
  }
});

test('a coordinator that cannot be asked about a version is asked again later', async () => {
  const { ca } = await sharedPki();
  const server = new URL('https://127.0.0.1:1');
  const source = new ReleaseSource({ server: () => server, ca: () => ca.cert, keyFile: '/nonexistent' });
  await assert.rejects(source.requireAllowed(VERSION), {
    temporary: true,
    message: /cannot ask the coordinator/,
  });
});
