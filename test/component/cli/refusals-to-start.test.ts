/**
 * A program that cannot start prints one sentence with the reason and the option to change, and addresses as the user
 * typed them.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const AGENT = fileURLToPath(new URL('../../../agent/everynode-agent.cjs', import.meta.url));
const COORDINATOR = ['coordinator', '--log-level', 'warn'];
const folder = temporaryDirectory();
/** Not even root can create a path below a file. */
const file = join(folder, 'file');
writeFileSync(file, '');
const fresh = (name: string) => join(folder, name);

function agent(args: readonly string[], token?: string): { code: number | null; stderr: string } {
  const env = { ...process.env, ...(token === undefined ? {} : { EVERYNODE_TOKEN: token }) };
  const done = spawnSync(process.execPath, [AGENT, '--runtime', 'hollow', ...args], {
    encoding: 'utf8',
    env,
  });
  return { code: done.status, stderr: done.stderr };
}

describe('a coordinator fails to start', () => {
  for (const [name, args, sentence] of [
    ['on an address of another host', ['--host', '192.0.2.1'], /no address 192\.0\.2\.1 .*--host\.$/],
    [
      'with an unwritable data directory',
      ['--data', join(file, 'data')],
      /^Cannot write to .*with --data\.$/,
    ],
    [
      'with an unwritable key directory',
      ['--secrets-key-file', join(file, 'k')],
      /with --secrets-key-file\.$/,
    ],
    ['with an unwritable log', ['--request-log-file', join(file, 'l')], /^--request-log-file: /],
  ] as const) {
    test(name, async () => {
      const { code, stderr } = await runEverynode([
        ...COORDINATOR,
        '--port',
        '0',
        '--data',
        fresh(name),
        ...args,
      ]);
      assert.match(stderr.trimEnd(), sentence);
      assert.doesNotMatch(stderr, /\n./, 'one line');
      assert.equal(code, 3);
    });
  }

  test('on a port in use', async (context) => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    context.after(() => server.close());
    const port = String((server.address() as AddressInfo).port);
    const place = ['--host', '127.0.0.1', '--port', port, '--data', fresh('in-use')];
    const { code, stderr } = await runEverynode([...COORDINATOR, ...place]);
    assert.equal(
      stderr,
      `Port ${port} on 127.0.0.1 is in use by another program: choose another with --port.\n`,
    );
    assert.equal(code, 3);
  });

  test('no backup is taken without a database, and none is restored into an unwritable directory', async () => {
    const taken = await runEverynode(['backup', '--data', folder]);
    assert.equal(
      taken.stderr,
      `There is no database in ${folder}: pass the coordinator's data directory with --data.\n`,
    );
    const restored = await runEverynode(['restore', fresh('none'), '--data', join(file, 'data')]);
    assert.match(restored.stderr, /^Cannot write to [^\n]* with --data\.\n$/);
  });
});

describe('an agent fails to start', () => {
  const data = fresh('coordinator');
  let coordinator: CoordinatorProcess;
  let server: string;
  let token: string;
  before(async () => {
    coordinator = await startCoordinatorProcess(data);
    server = /server: (\S+)/.exec(coordinator.kubeconfig)?.[1] ?? '';
    token = tokenInLine((await runEverynode(['token', 'create', '--data', data])).stdout);
  });
  after(() => coordinator.end('SIGKILL'));

  test('with an unwritable data directory', () => {
    const { code, stderr } = agent(['--server', server, '--data', join(file, 'data')]);
    assert.match(
      stderr,
      /^The data directory [^\n]* cannot be written to: [^\n]* Choose another with --data\.\n$/,
    );
    assert.equal(code, 3);
  });

  test('without a join token, with a hint where to get one', () => {
    const { code, stderr } = agent(['--server', server, '--data', fresh('agent')]);
    assert.match(
      stderr,
      /pass a join token with --token-file FILE or in EVERYNODE_TOKEN \(everynode token create/,
    );
    assert.equal(code, 5);
  });

  test('with an unknown token: the message says how to get one, and names the address as typed', () => {
    const typed = `${server.replace('https', 'HTTPS')}/`;
    const wrong = token.replace(/\.\w{16}\./, `.${'0'.repeat(16)}.`);
    const { code, stderr } = agent(['--server', typed, '--data', fresh('agent')], wrong);
    assert.equal(
      stderr,
      `The coordinator at ${typed} refused to let this host join: Unauthorized (the join token is wrong, expired, revoked or spent by another host); make a new one with: everynode token create.\n`,
    );
    assert.equal(code, 5);
  });

  for (const [typed, sentence] of [
    ['https://LOCALHOST:1/', /^The coordinator at https:\/\/LOCALHOST:1\/ cannot be reached: /],
    ['co:6443', /^--server: must be of the form https:\/\/HOST:PORT, not "co:6443"\.$/],
    ['http://co:6443', /^--server: must be of the form https:\/\/HOST:PORT, not "http:\/\/co:6443"\.$/],
  ] as const) {
    test(`with --server ${typed}`, () => {
      const { stderr } = agent(['--server', typed, '--data', fresh('agent')], token);
      assert.match(stderr.trimEnd(), sentence);
    });
  }

  for (const [name, args, sentence] of [
    ['a file without a token', ['--token-file', file], /^--token-file: \S+ holds no join token\.$/],
    ['no such file', ['--token-file', join(file, 'x')], /^--token-file: \S+ cannot be read: ENOTDIR/],
    ['empty input', ['--token-file', '-'], /^--token-file: standard input holds no join token\.$/],
    [
      'input with two tokens',
      ['--token-file', '-', '--end-with-input'],
      /^--token-file - and --end-with-input both need/,
    ],
    ['a token as an argument', ['--token', 'a.b.c'], /^Unknown option '--token'/],
  ] as const) {
    test(`with ${name} as its token`, () => {
      const { stderr } = agent(['--server', server, '--data', fresh('agent'), ...args]);
      assert.match(stderr.trimEnd(), sentence);
      assert.doesNotMatch(stderr, /\n./, 'one line');
    });
  }

  test('with a token in a settings file that other users can read', () => {
    const settings = fresh('agent.yaml');
    writeFileSync(settings, `server: ${server}\ntoken: ${token}\n`);
    const { code, stderr } = agent(['--config', settings]);
    assert.equal(stderr, `${settings}: "token" is a secret; set it with EVERYNODE_TOKEN.\n`);
    assert.equal(code, 2);
  });
});
