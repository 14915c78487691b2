/** What a host without the agent is given: the script with the release's hashes, the files of a release and no others. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { AgentFiles } from '../../coordinator/api/agent-files.js';
import { DEFAULT_API_SETTINGS } from '../../coordinator/api/api-request.js';
import { startTestApi } from '../harness/api.js';
import { call } from '../harness/https-call.js';
import { temporaryDirectory } from '../harness/temporary-directory.js';

const VERSION = '1.2.3';
const NAME = `everynode-agent-${VERSION}-linux-amd64.gz`;
const BYTES = Buffer.from('an agent');
const SUM = createHash('sha256').update(BYTES).digest('hex');

async function serve(context: TestContext) {
  const directory = temporaryDirectory();
  const folder = join(directory, VERSION);
  mkdirSync(folder);
  const key = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  writeFileSync(join(folder, NAME), BYTES);
  writeFileSync(join(folder, 'SHA256SUMS'), `${SUM}  ${NAME}\n${SUM}  '; reboot; '.gz\n`);
  writeFileSync(join(folder, 'release.pub'), key);
  writeFileSync(join(directory, 'everynode.db'), 'secrets');
  const api = await startTestApi({ agentFiles: new AgentFiles(directory, VERSION) });
  context.after(() => api.stop());
  return { api, key: String(key) };
}

test('the script names the server as it was asked for, the hashes and the key of the release, and is a shell script', async (context) => {
  const { api, key } = await serve(context);
  const { code, text } = await call(api, 'GET /install.sh', { token: null });
  assert.equal(code, 200);
  assert.match(text, new RegExp(`^server='https://127.0.0.1:${api.port}'$`, 'm'));
  assert.ok(text.includes(`sums='${SUM}  ${NAME}'`), text);
  assert.ok(text.includes(key.trim()));
  assert.doesNotMatch(text, /@[A-Z_]+@|reboot/);
  assert.equal(spawnSync('sh', ['-n'], { input: text }).status, 0);
});

for (const host of ["x';reboot;'", '$(reboot)', 'a b', 'x`y`', '', 'h:1:2:3;', undefined]) {
  test(`a Host header that is no name never reaches the script: ${JSON.stringify(host)}`, () => {
    const files = new AgentFiles(temporaryDirectory(), VERSION);
    assert.throws(() => files.script(host), /Host header/);
  });
}

test('a file of the release is given whole, to anybody', async (context) => {
  const { api } = await serve(context);
  const { code, text, headers } = await call(api, `GET /agent/${VERSION}/${NAME}`, { token: null });
  assert.deepEqual([code, text, headers['content-length']], [200, 'an agent', String(BYTES.length)]);
});

for (const path of [
  '/agent/1.2.3/../everynode.db',
  '/agent/1.2.3/..%2Feverynode.db',
  '/agent/..%2F1.2.3/SHA256SUMS',
  '/agent/%2e%2e/everynode.db',
  '/agent/1.2.3/release.pub%00',
  '/agent/9.9.9/SHA256SUMS',
  `/agent/1.2.3/${NAME}%2f..%2f..%2feverynode.db`,
]) {
  test(`nothing else is given: ${path}`, async (context) => {
    const { api } = await serve(context);
    const { code, text } = await call(api, `GET ${path}`, { token: null });
    assert.ok(code === 404 || code === 401 || code === 403, `${code} ${text}`);
    assert.doesNotMatch(text, /secrets/);
  });
}

test('a coordinator without a release says how to get one', async (context) => {
  const api = await startTestApi({ agentFiles: new AgentFiles(temporaryDirectory(), VERSION) });
  context.after(() => api.stop());
  const { code, text } = await call(api, 'GET /install.sh', { token: null });
  assert.equal(code, 404);
  assert.match(text, /npm run release/);
});

test('one address that asks for too much is told when to come again', async (context) => {
  const settings = { ...DEFAULT_API_SETTINGS, clientLimits: { requestsPerSecond: 0.01, burst: 2 } };
  const api = await startTestApi({
    settings,
    agentFiles: new AgentFiles(temporaryDirectory(), VERSION),
  });
  context.after(() => api.stop());
  const paths = ['/install.sh', `/agent/${VERSION}/${NAME}`, '/install.sh', `/agent/${VERSION}/${NAME}`];
  const codes: number[] = [];
  for (const path of paths) codes.push((await call(api, `GET ${path}`, { token: null })).code);
  assert.deepEqual(codes, [404, 404, 429, 429]);
});
