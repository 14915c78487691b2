/** `npx --no everynode` runs this package's program in a clone, and fetches nothing elsewhere. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
const FOREIGN = 'code of a stranger';

/** A package of the same name that another owner has published. */
async function strangersPackage(): Promise<Buffer> {
  const archive = pack();
  const manifest = { name: 'everynode', version: '9.9.9', bin: { everynode: 'run.js' } };
  archive.entry({ name: 'package/package.json' }, JSON.stringify(manifest), () => undefined);
  archive.entry(
    { name: 'package/run.js', mode: 0o755 },
    `#!/usr/bin/env node\nconsole.log('${FOREIGN}');\n`,
    () => undefined,
  );
  archive.finalize();
  return gzipSync(await buffer(archive));
}

/** A registry with that package, and the requested paths. */
async function strangersRegistry(context: TestContext): Promise<{ url: string; asked: string[] }> {
  const tarball = await strangersPackage();
  const asked: string[] = [];
  const server = createServer(({ method, url = '' }, response) => {
    asked.push(url);
    // npm asks for security advisories by POST.
    if (method === 'POST') return void response.end('{}');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: `${address}/everynode-9.9.9.tgz`, integrity };
    const version = { name: 'everynode', version: '9.9.9', bin: { everynode: 'run.js' }, dist };
    const page = { name: 'everynode', 'dist-tags': { latest: '9.9.9' }, versions: { '9.9.9': version } };
    response.end(url.endsWith('.tgz') ? tarball : JSON.stringify(page));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  context.after(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

describe('npx inside and outside a clone', () => {
  let home: string;
  before(() => {
    home = temporaryDirectory();
  });

  function npx(
    folder: string,
    registry: string,
    ...args: string[]
  ): Promise<{ code: number; stdout: string }> {
    const env = { PATH: process.env.PATH, HOME: home, npm_config_registry: registry };
    return new Promise((done) => {
      const child = execFile('npx', args, { cwd: folder, env }, (error, stdout) =>
        done({ code: error ? Number(error.code ?? 1) : 0, stdout }),
      );
      child.stdin?.end();
    });
  }

  test('outside, --no prevents fetching and running a foreign package', async (context) => {
    const { url, asked } = await strangersRegistry(context);
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere);
    assert.deepEqual(await npx(elsewhere, url, '--no', 'everynode', 'version'), { code: 1, stdout: '' });
    const fetched = asked.filter((path) => path.endsWith('.tgz'));
    assert.deepEqual(fetched, []);
    // Control: without --no, npx fetches and runs the package.
    const { stdout } = await npx(elsewhere, url, '--yes', 'everynode', 'version');
    assert.equal(stdout, `${FOREIGN}\n`);
  });

  for (const folder of ['.', 'examples']) {
    test(`in the clone's folder ${folder} this package's program runs, and no registry is queried`, async (context) => {
      const { url, asked } = await strangersRegistry(context);
      const { code, stdout } = await npx(join(ROOT, folder), url, '--no', 'everynode', 'version');
      assert.deepEqual([code, asked], [0, []]);
      assert.match(stdout, /^everynode \d+\.\d+\.\d+/);
      const agent = await npx(join(ROOT, folder), url, '--no', 'everynode-agent', '--version');
      assert.deepEqual([agent.code, asked], [0, []]);
    });
  }
});
