/** The search for engines, API versions, and the messages for users. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  candidateAddresses,
  findEngine,
  negotiateApiVersion,
  parseAddress,
} from '../../../agent/runtime/docker/find-engine.js';

for (const [engine, oldest, spoken] of [
  ['1.40', '1.12', '1.40'],
  ['1.41', '1.24', '1.41'],
  ['1.47', '1.24', '1.47'],
  ['1.52', '1.44', '1.47'],
  ['1.60', '1.50', '1.50'],
] as const) {
  test(`an engine of API ${oldest} to ${engine} is addressed with API ${spoken}`, () => {
    assert.equal(negotiateApiVersion(engine, oldest), spoken);
  });
}

test('an engine older than API 1.40 is rejected by name', () => {
  assert.throws(() => negotiateApiVersion('1.39', '1.12'), /1\.39; 1\.40 or later/);
});

test('DOCKER_HOST is the only address when it is set', () => {
  const search = { runtime: 'auto', dockerHost: 'unix:///x.sock', homeDir: '/home/a' } as const;
  assert.deepEqual(candidateAddresses(search), [{ socketPath: '/x.sock' }]);
});

test("the machine's engines are tried before the user's, the configured kind first", () => {
  const paths = (runtime: 'auto' | 'podman') =>
    candidateAddresses({ runtime, runtimeDir: '/run/user/1' }).map(
      (place) => 'socketPath' in place && place.socketPath,
    );
  assert.equal(paths('auto')[0], '/var/run/docker.sock');
  assert.deepEqual(paths('podman').slice(0, 2), [
    '/run/podman/podman.sock',
    '/run/user/1/podman/podman.sock',
  ]);
});

test('an address is a socket, or a host with its port', () => {
  assert.deepEqual(parseAddress('tcp://10.0.0.1:2375'), { host: '10.0.0.1', port: 2375 });
  assert.throws(() => parseAddress('ssh://host'), /unix:\/\/PATH or tcp:\/\/HOST:PORT/);
});

test('without an engine, the error lists the searched addresses and how to install one', async () => {
  const search = { runtime: 'docker', dockerHost: 'unix:///nonexistent.sock' } as const;
  await assert.rejects(findEngine(search), {
    message:
      /no docker engine found \(\/nonexistent\.sock: the socket does not exist[^)]*\)\).*apt-get install docker\.io/,
  });
});

async function answering(context: TestContext, version: object): Promise<string> {
  const server = createServer((_, response) => response.end(JSON.stringify(version)));
  context.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('Podman is recognised by its components', async (context) => {
  const dockerHost = await answering(context, {
    Version: '4.3.1',
    ApiVersion: '1.41',
    Components: [{ Name: 'Podman Engine' }],
  });
  assert.equal((await findEngine({ runtime: 'auto', dockerHost })).name, 'podman');
  await assert.rejects(findEngine({ runtime: 'docker', dockerHost }), { message: /is podman/ });
});
