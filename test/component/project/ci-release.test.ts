/** `.ci/release` and the jobs that run it: which programs receive the key that signs. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

/** Records the environment, and of npm the key file. */
const RECORD_ENVIRONMENT = '#!/bin/sh\nenv >>"$RECORDS/environment"\n';
const FAKE_NPM = `${RECORD_ENVIRONMENT}for key; do :; done
stat -c %a "$key" >"$RECORDS/mode"
cp "$key" "$RECORDS/key"
mkdir -p dist/release && : >dist/release/x && cd dist/release && sha256sum x >SHA256SUMS
`;

/** Runs the script in a project whose programs only record. */
function release(key: string | undefined): { folder: string; status: number | null; stderr: string } {
  const folder = temporaryDirectory();
  for (const name of ['.ci', 'bin', 'release', 'tmp']) mkdirSync(join(folder, name));
  copyFileSync('.ci/release', join(folder, '.ci/release'));
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text, { mode: 0o755 });
  write('.ci/install-packages', RECORD_ENVIRONMENT);
  write('bin/npm', FAKE_NPM);
  write('release/changelog-section.mjs', 'console.log("- Waves.");');
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  const env = {
    PATH,
    RECORDS: folder,
    TMPDIR: join(folder, 'tmp'),
    ...(key !== undefined && { EVERYNODE_RELEASE_KEY: key }),
  };
  const { status, stderr } = spawnSync(join(folder, '.ci/release'), ['v1.2.3'], { env, encoding: 'utf8' });
  return { folder, status, stderr };
}

test('the key reaches npm only as a file of the user, and no file of it remains', () => {
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { folder, status, stderr } = release(Buffer.from(pem).toString('base64'));
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const record = (name: string) => readFileSync(join(folder, name), 'utf8');
  assert.equal(record('environment').match(/^RECORDS=/gm)?.length, 2);
  assert.doesNotMatch(record('environment'), /EVERYNODE_RELEASE_KEY/);
  assert.equal(record('key'), pem);
  assert.equal(record('mode').trim(), '600');
  assert.deepEqual(readdirSync(join(folder, 'tmp')), []);
});

test('without a valid key nothing is built', () => {
  const pem = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n';
  for (const [key, error] of [
    [undefined, /EVERYNODE_RELEASE_KEY: set it to the release key: base64 -w0 KEY\.pem/],
    [pem, /EVERYNODE_RELEASE_KEY is not base64/],
    [Buffer.from(pem).toString('base64'), /EVERYNODE_RELEASE_KEY is not a private key/],
  ] as const) {
    const { folder, status, stderr } = release(key);
    assert.notEqual(status, 0);
    assert.match(stderr, error);
    assert.ok(!existsSync(join(folder, 'environment')));
  }
});

test('only the job that signs has the scope of the key', () => {
  const jobs: [string, { environment?: string }][] = Object.entries(
    parse(readFileSync('.gitlab-ci.yml', 'utf8')),
  );
  const inScope = jobs.filter(([, job]) => job.environment === 'release').map(([name]) => name);
  assert.deepEqual(inScope, ['release']);
  const { jobs: ofGitHub } = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
  const steps: { run: string; env?: object }[] = ofGitHub.release.steps;
  const withKey = steps.filter(({ env }) => JSON.stringify(env ?? {}).includes('EVERYNODE_RELEASE_KEY'));
  assert.deepEqual(
    withKey.map(({ run }) => run),
    ['.ci/release "$GITHUB_REF_NAME"'],
  );
});
