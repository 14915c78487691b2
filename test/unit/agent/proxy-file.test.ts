/** The proxy that an installation stores for the service of the agent. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { givenProxy, proxyWithChanges, writeProxyFile } from '../../../agent/install/proxy-file.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

/** Installs one after another with these environments. Returns the last text of the file; undefined without one. */
async function installed(...environments: Record<string, string>[]): Promise<string | undefined> {
  const path = join(temporaryDirectory(), 'proxy.env');
  for (const environment of environments)
    await writeProxyFile(path, proxyWithChanges(path, givenProxy(environment)));
  if (!existsSync(path)) return undefined;
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).join(' ');
}

const PROXY = { HTTPS_PROXY: "http://ann:it's$1@proxy:3128", NO_PROXY: '10.0.0.0/8,.local' };
const STORED = "HTTPS_PROXY='http://ann:it%27s$1@proxy:3128/' NO_PROXY='10.0.0.0/8,.local'";

const CASES: readonly [what: string, environments: Record<string, string>[], stored: string | undefined][] = [
  ['without variables nothing is stored', [{}], undefined],
  ['both variables are stored, quoted for systemd', [PROXY], STORED],
  ['a second installation without variables changes nothing', [PROXY, {}], STORED],
  [
    'a variable that is given replaces its value only',
    [PROXY, { NO_PROXY: 'b' }],
    STORED.replace(/'[^']*'$/, "'b'"),
  ],
  ['an empty HTTPS_PROXY removes the proxy', [PROXY, { HTTPS_PROXY: '' }], undefined],
  ['an empty NO_PROXY removes the exceptions', [PROXY, { NO_PROXY: '' }], STORED.replace(/ NO_PROXY.*/, '')],
  ['exceptions without a proxy are not stored', [{ NO_PROXY: 'b' }], undefined],
  [
    'lower-case variables count',
    [{ https_proxy: 'proxy:1', no_proxy: 'b' }],
    "HTTPS_PROXY='http://proxy:1/' NO_PROXY='b'",
  ],
  [
    'upper-case variables win',
    [{ https_proxy: 'proxy:1', HTTPS_PROXY: 'proxy:2' }],
    "HTTPS_PROXY='http://proxy:2/'",
  ],
];

for (const [what, environments, stored] of CASES)
  test(what, async () => assert.equal(await installed(...environments), stored));

test('a file that an operator has changed is read with double quotes or none, and errors name it', async () => {
  const path = join(temporaryDirectory(), 'proxy.env');
  writeFileSync(path, '# mine\nHTTPS_PROXY="http://proxy:1"\n NO_PROXY=b\n');
  const { httpsProxy, noProxy } = proxyWithChanges(path, givenProxy({}));
  assert.deepEqual([httpsProxy?.host, noProxy], ['proxy:1', 'b']);
  writeFileSync(path, 'HTTPS_PROXY=socks5://ann:s3cret@proxy\n');
  assert.throws(
    () => proxyWithChanges(path, givenProxy({})),
    ({ message }: Error) => message.includes(path) && !message.includes('s3cret'),
  );
});
