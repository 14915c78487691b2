/** Files for a host without an agent: the script with the release's hashes, and the files of a release only. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DEFAULT_API_SETTINGS } from '../../../coordinator/api/http/api-context.js';
import { AgentFiles } from '../../../coordinator/api/join/agent-downloads.js';
import { releasePaths } from '../../../coordinator/coordinator-data-dir.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { agentArchive, newReleaseKey, signList, storedRelease } from '../../harness/hosts/test-release.js';

const VERSION = '1.2.3';
const NAME = agentArchive(VERSION);

async function serve(context: TestContext) {
  const data = temporaryDirectory();
  const key = newReleaseKey();
  const places = storedRelease(data, VERSION, key);
  writeFileSync(join(data, 'everynode.db'), 'secrets');
  const api = await startTestApi({ agentFiles: new AgentFiles(places, VERSION) });
  context.after(() => api.stop());
  const folder = join(places.directory, VERSION);
  const bytes = readFileSync(join(folder, NAME));
  const get = (path: string) => call(api, `GET ${path}`, { token: null });
  return { api, key, places, folder, bytes, sum: createHash('sha256').update(bytes).digest('hex'), get };
}

/** A data directory without a release. */
function nowhere() {
  return releasePaths(temporaryDirectory());
}

test('the script names the requested server, the hashes and the key of the release, and is a shell script', async (context) => {
  const { api, key, sum, get } = await serve(context);
  const { code, text } = await get('/install.sh');
  assert.equal(code, 200, text);
  assert.match(text, new RegExp(`^server='https://127.0.0.1:${api.port}'$`, 'm'));
  assert.ok(text.includes(`sums='${sum}  ${NAME}'`), text);
  assert.ok(text.includes(key.publicKey.trim()));
  assert.doesNotMatch(text, /@[A-Z_]+@/);
  assert.equal(spawnSync('sh', ['-n'], { input: text }).status, 0);
});

for (const host of ["x';reboot;'", '$(reboot)', 'a b', 'x`y`', '', 'h:1:2:3;', undefined]) {
  test(`an invalid Host header never reaches the script: ${JSON.stringify(host)}`, () => {
    const files = new AgentFiles(nowhere(), VERSION);
    return assert.rejects(files.script(host), /Host header/);
  });
}

test('a file of the release is served completely, to any client', async (context) => {
  const { get, bytes } = await serve(context);
  for (const time of ['first', 'second']) {
    const { code, headers } = await get(`/agent/${VERSION}/${NAME}`);
    assert.deepEqual([code, headers['content-length']], [200, String(bytes.length)], time);
  }
  assert.match((await get(`/agent/${VERSION}/SHA256SUMS`)).text, new RegExp(`  ${NAME}\n`));
  assert.match((await get(`/agent/${VERSION}/SHA256SUMS.sig`)).text, /^[A-Za-z0-9+/]{86}==\n$/);
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
  test(`no other file is served: ${path}`, async (context) => {
    const { api } = await serve(context);
    const { code, text } = await call(api, `GET ${path}`, { token: null });
    assert.ok(code === 404 || code === 401 || code === 403, `${code} ${text}`);
    assert.doesNotMatch(text, /secrets/);
  });
}

type Served = Awaited<ReturnType<typeof serve>>;
const ALL = ['/install.sh', `/agent/${VERSION}/${NAME}`, `/agent/${VERSION}/SHA256SUMS`];
/** Changes to a stored release, the rejected paths after each, and the status code. */
const CHANGES: [string, (served: Served) => void, string[], number][] = [
  [
    'an agent that was changed with its size and times kept',
    ({ folder, bytes }) => {
      const path = join(folder, NAME);
      writeFileSync(
        path,
        bytes.map((byte) => byte ^ 1),
      );
      utimesSync(path, 0, 0);
    },
    [`/agent/${VERSION}/${NAME}`],
    503,
  ],
  [
    'an agent that was truncated',
    ({ folder }) => truncateSync(join(folder, NAME), 1),
    [`/agent/${VERSION}/${NAME}`],
    503,
  ],
  [
    'a list that was changed',
    ({ folder }) => writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  ${NAME}\n`),
    ALL,
    503,
  ],
  [
    'a release signed by another key',
    ({ folder }) => signList(folder, readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), newReleaseKey()),
    ALL,
    503,
  ],
  ['the trusted key removed', ({ places }) => rmSync(places.trustFile), ALL, 404],
  ['the trusted key damaged', ({ places }) => writeFileSync(places.trustFile, '{"key": "x"}'), ALL, 503],
  [
    'a minimum version above it',
    ({ places, key: { publicKey } }) =>
      writeFileSync(places.trustFile, JSON.stringify({ key: publicKey, floor: '1.3.0' })),
    ALL,
    403,
  ],
];
for (const [what, change, paths, refusal] of CHANGES) {
  test(`not served after this change: ${what}`, async (context) => {
    const served = await serve(context);
    for (const path of paths) assert.equal((await served.get(path)).code, 200, path);
    change(served);
    for (const path of paths) {
      const { code, text } = await served.get(path);
      assert.equal(code, refusal, text);
      assert.match(text, /everynode release|this coordinator/);
    }
  });
}

test('a coordinator without a release reports how to get one', async (context) => {
  const api = await startTestApi({ agentFiles: new AgentFiles(nowhere(), VERSION) });
  context.after(() => api.stop());
  const { code, text } = await call(api, 'GET /install.sh', { token: null });
  assert.equal(code, 404);
  assert.match(text, /npm run release/);
});

test('an address with too many requests gets a Retry-After', async (context) => {
  const settings = { ...DEFAULT_API_SETTINGS, clientLimits: { requestsPerSecond: 0.01, burst: 2 } };
  const api = await startTestApi({
    settings,
    agentFiles: new AgentFiles(nowhere(), VERSION),
  });
  context.after(() => api.stop());
  const paths = ['/install.sh', `/agent/${VERSION}/${NAME}`, '/install.sh', `/agent/${VERSION}/${NAME}`];
  const codes: number[] = [];
  for (const path of paths) codes.push((await call(api, `GET ${path}`, { token: null })).code);
  assert.deepEqual(codes, [404, 404, 429, 429]);
});
