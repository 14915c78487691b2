/** A failed first start, join or restore leaves nothing behind and changes no existing data. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import { mountSmallDisk } from '../../harness/pods/small-disk.js';
import {
  type CoordinatorProcess,
  processesNaming,
  runEverynode,
  startCoordinatorProcess,
  startProgram,
} from '../../harness/processes/everynode-processes.js';

const EVERYNODE = 'coordinator/cli/everynode.js';

/** Returns every path below a folder with the file's content or mode. */
function contentOf(folder: string): Record<string, string> {
  const paths = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort() : [];
  const describe = (path: string): string =>
    statSync(path).isFile() ? readFileSync(path, 'base64') : 'a folder';
  return Object.fromEntries(paths.map((path) => [path, describe(join(folder, path))]));
}

/** A server that occupies its port on every address. */
async function occupiedPort(): Promise<{ server: Server; port: string }> {
  const server = createServer();
  await new Promise<void>((done) => void server.listen(0, '0.0.0.0', done));
  const address = server.address();
  return { server, port: String(typeof address === 'object' && address ? address.port : 0) };
}

describe('a first up', () => {
  const upArgs = (data: string, ...args: string[]): string[] => {
    return ['up', '--data', data, '--port', '0', '--runtime', 'hollow', '--node-name', 'n1', ...args];
  };
  let occupied: Awaited<ReturnType<typeof occupiedPort>>;
  before(async () => {
    occupied = await occupiedPort();
  });
  after(() => occupied.server.close());

  const FAILURES: [string, (folder: string) => string[], number][] = [
    ['with a port in use', () => ['--port', occupied.port], 3],
    ['with a missing certificate', () => ['--tls-cert-file', '/none', '--tls-private-key-file', '/none'], 2],
    [
      'with an engine that does not answer',
      (folder) => ['--runtime', 'docker', '--data', join(folder, 'a', 'data')],
      3,
    ],
    ['with wrong labels', () => ['--labels', 'a b=c'], 2],
  ];
  for (const [what, flags, exit] of FAILURES) {
    test(`${what} leaves no directory`, async () => {
      const folder = temporaryDirectory();
      const args = upArgs(join(folder, 'a', 'data'), ...flags(folder));
      const { code, stderr } = await runEverynode(args, { DOCKER_HOST: 'unix:///none.sock' });
      assert.equal(code, exit, stderr);
      assert.deepEqual(contentOf(folder), {});
    });
  }

  test('that fails in a directory with files leaves those files and no others', async () => {
    const data = temporaryDirectory();
    mkdirSync(join(data, 'pki'));
    writeFileSync(join(data, 'pki', 'mine.txt'), 'mine');
    writeFileSync(join(data, 'mine.txt'), 'mine');
    const before = contentOf(data);
    const { code, stderr } = await runEverynode(upArgs(data, '--port', occupied.port));
    assert.equal(code, 3, stderr);
    assert.deepEqual(contentOf(data), before);
  });

  test('of the coordinator alone leaves no directory either', async () => {
    const folder = temporaryDirectory();
    const args = ['coordinator', '--data', join(folder, 'data'), '--port', occupied.port];
    const { code, stderr } = await runEverynode(args);
    assert.equal(code, 3, stderr);
    assert.deepEqual(contentOf(folder), {});
  });

  for (const line of ['starting the coordinator', 'starting the agent', 'waiting for the node']) {
    test(`interrupted after "${line}" leaves no directory and no process`, async () => {
      const folder = temporaryDirectory();
      const data = join(folder, 'data');
      const log = join(temporaryDirectory(), 'log');
      const up = startProgram(EVERYNODE, upArgs(data), log);
      await until(() => readFileSync(log, 'utf8').includes(line), { timeoutMs: 60_000, what: line });
      await up.end('SIGINT');
      const printed = readFileSync(log, 'utf8');
      // On a busy machine the node can be Ready before the signal arrives. Then the address was printed, and the data
      // is kept.
      if (line === 'waiting for the node' && printed.includes('  API  ')) {
        return assert.ok(existsSync(join(data, 'everynode.db')), printed);
      }
      assert.deepEqual(contentOf(folder), {}, printed);
      assert.match(printed, /nothing was kept: \S+ is unchanged/);
      await untilPasses(() => assert.deepEqual(processesNaming(join(data, 'agent')), []));
    });
  }

  test('whose agent exits leaves no directory', async () => {
    const folder = temporaryDirectory();
    const args = upArgs(join(folder, 'data'));
    const { code, stderr } = await runEverynode(args, { EVERYNODE_AGENT_METRICS_ADDRESS: 'no address' });
    assert.notEqual(code, 0, stderr);
    assert.match(stderr, /The agent ended/);
    assert.deepEqual(contentOf(folder), {});
  });

  test('that became Ready keeps its data when it ends, and a later failing start changes nothing', async () => {
    const data = join(temporaryDirectory(), 'data');
    const log = join(temporaryDirectory(), 'log');
    const up = startProgram(EVERYNODE, upArgs(data), log);
    const isReady = () => readFileSync(log, 'utf8').includes('Node n1 is Ready');
    await until(isReady, { timeoutMs: 60_000, what: 'the node to be Ready' });
    const refused = await runEverynode(upArgs(data));
    assert.equal(refused.code, 4, refused.stderr);
    await up.end('SIGINT');
    const kubeconfig = readFileSync(join(data, 'kubeconfig'));
    const failed = await runEverynode(upArgs(data, '--port', occupied.port));
    assert.equal(failed.code, 3, failed.stderr);
    assert.deepEqual(readFileSync(join(data, 'kubeconfig')), kubeconfig);
    assert.ok(existsSync(join(data, 'agent', 'identity.json')));
    assert.ok(existsSync(join(data, 'everynode.db')));
  });
});

describe('a join', () => {
  const folder = temporaryDirectory();
  let coordinator: CoordinatorProcess;
  let line: { server: string; token: string };
  before(async () => {
    const data = join(folder, 'coordinator');
    coordinator = await startCoordinatorProcess(data);
    const { stdout } = await runEverynode(['token', 'create', '--data', data, '--advertise', '127.0.0.1']);
    const [, server = ''] = /--server (\S+)/.exec(stdout) ?? assert.fail(stdout);
    line = { server, token: tokenInLine(stdout) };
  });
  after(() => coordinator.end('SIGTERM'));

  const agent = resolve('dist/agent/everynode-agent.cjs');
  const runAgent = (data: string, server: string, token: string) => {
    const args = ['--server', server, '--data', data, '--node-name', 'n1', '--runtime', 'hollow'];
    const env = { ...process.env, EVERYNODE_TOKEN: token };
    return spawnSync(process.execPath, [agent, ...args], { env, encoding: 'utf8', timeout: 60_000 });
  };
  const WRONG: [string, () => [string, string]][] = [
    [
      'with a rejected token',
      () => [line.server, line.token.replace(/\.[a-z0-9]{16}\./, '.aaaaaaaaaaaaaaaa.')],
    ],
    [
      'with a token of another authority',
      () => [line.server, line.token.replace(/[0-9a-f]{64}$/, '0'.repeat(64))],
    ],
    ['with an invalid token', () => [line.server, 'rubbish']],
    ['with a server that does not answer', () => ['https://127.0.0.1:1', line.token]],
    ['with an invalid server address', () => ['nowhere', line.token]],
  ];
  for (const [what, wish] of WRONG) {
    test(`${what} leaves no directory`, () => {
      const place = temporaryDirectory();
      const { status, stderr } = runAgent(join(place, 'a', 'data'), ...wish());
      assert.ok(status === 3 || status === 5, `${status}: ${stderr}`);
      assert.deepEqual(contentOf(place), {});
    });
  }

  test('that is rejected keeps the key of an earlier join without an answer', () => {
    const data = temporaryDirectory();
    const identity = { format: 2, node: 'n1', key: 'a key', ca: 'an authority' };
    writeFileSync(join(data, 'identity.json'), `${JSON.stringify(identity, undefined, 2)}\n`);
    const { status } = runAgent(data, line.server, line.token.replace(/[0-9a-f]{64}$/, '0'.repeat(64)));
    assert.equal(status, 5);
    assert.deepEqual(JSON.parse(readFileSync(join(data, 'identity.json'), 'utf8')), identity);
  });
});

describe('a restore', () => {
  const folder = temporaryDirectory();
  const backup = join(folder, 'backup.tar.gz');
  before(async () => {
    const data = join(folder, 'data');
    const coordinator = await startCoordinatorProcess(data);
    const { code, stderr } = await runEverynode(['backup', '--to', backup, '--data', data]);
    await coordinator.end('SIGTERM');
    assert.equal(code, 0, stderr);
  });
  const restore = (file: string, data: string, ...flags: string[]) =>
    runEverynode(['restore', file, '--data', data, ...flags]);

  for (const [what, bytes] of [
    ['that is not a backup', () => Buffer.from('rubbish')],
    ['that was truncated', () => readFileSync(backup).subarray(0, 2_000)],
  ] as const) {
    test(`of a file ${what} leaves no directory, and keeps existing data`, async () => {
      const place = temporaryDirectory();
      const file = join(temporaryDirectory(), 'file');
      writeFileSync(file, bytes());
      assert.equal((await restore(file, join(place, 'a', 'data'))).code, 4);
      assert.deepEqual(contentOf(place), {});

      const data = join(folder, 'data');
      const before = contentOf(data);
      assert.equal((await restore(file, data, '--replace')).code, 4);
      assert.deepEqual(contentOf(data), before);
    });
  }

  test('that cannot move all existing data aside moves it back', async (context) => {
    const data = join(folder, 'data');
    // A mounted file cannot be renamed. The database has been moved by then.
    const kubeconfig = join(data, 'kubeconfig');
    const mounted = spawnSync('mount', ['--bind', kubeconfig, kubeconfig], { encoding: 'utf8' });
    if (mounted.status !== 0) return leaveOut(context, 'a file that cannot be moved', mounted.stderr);
    context.after(() => spawnSync('umount', [kubeconfig]));
    const before = contentOf(data);
    const { code, stderr } = await restore(backup, data, '--replace');
    assert.notEqual(code, 0, stderr);
    assert.deepEqual(contentOf(data), before);
  });

  test('onto a full disk leaves the disk unchanged', async (context) => {
    const disk = mountSmallDisk(join(temporaryDirectory(), 'disk'), 1);
    if (typeof disk === 'string') return leaveOut(context, 'a full disk', disk);
    context.after(() => disk.unmount());
    writeFileSync(join(disk.path, 'filler'), Buffer.alloc(2 ** 20 - 64 * 1024, 1));
    const before = readdirSync(disk.path, { recursive: true });
    const { code, stderr } = await restore(backup, join(disk.path, 'data'));
    assert.equal(code, 3, stderr);
    assert.deepEqual(readdirSync(disk.path, { recursive: true }), before);
  });
});
