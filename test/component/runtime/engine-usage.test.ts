/** The usage of running containers is measured although another container exits during the reading. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { DockerApi } from '../../../agent/runtime/docker/docker-api.js';
import { dockerUsage } from '../../../agent/runtime/docker/docker-usage.js';
import { RuntimeError } from '../../../agent/runtime/runtime-driver.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const STATS = JSON.stringify({
  cpu_stats: { cpu_usage: { total_usage: 5_000 } },
  memory_stats: { usage: 3_000, stats: { inactive_file: 1_000 } },
});
const CONTAINERS = ['running', 'exited', 'removed'].map((Id) => ({
  Id,
  Labels: { 'everynode.dev/pod-uid': 'uid', 'everynode.dev/container': Id },
}));

interface Response {
  status: number;
  body: string;
}

/** Answers of an engine that has a running container and two that end, by the last part of the request's path. */
async function measure(endedContainer: Response | 'closes the connection'): Promise<unknown> {
  const socketPath = join(temporaryDirectory(), 'engine.sock');
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://engine');
    const isEnded = !pathname.includes('/running/') && !pathname.endsWith('/json');
    if (isEnded && endedContainer === 'closes the connection') {
      request.socket.destroy();
      return;
    }
    const { status, body } =
      isEnded && typeof endedContainer !== 'string'
        ? endedContainer
        : { status: 200, body: pathname.endsWith('/json') ? JSON.stringify(CONTAINERS) : STATS };
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const api = new DockerApi({ socketPath });
  try {
    return await dockerUsage(api, []);
  } finally {
    api.close();
    server.closeAllConnections();
    server.close();
  }
}

for (const [name, response] of [
  [
    'Podman responds 500 for an exited container',
    { status: 500, body: '{"message":"unable to load cgroup"}' },
  ],
  ['Podman responds without a body for an exited container', { status: 200, body: '' }],
  [
    'Docker responds 404 for a removed container',
    { status: 404, body: '{"message":"No such container: x"}' },
  ],
] as const) {
  test(`the usage of a running container is reported when ${name}`, async () => {
    const usages = (await measure(response)) as { id: string; cpuNanos: number; memoryBytes: number }[];
    assert.deepEqual(
      usages.map(({ id, cpuNanos, memoryBytes }) => [id, cpuNanos, memoryBytes]),
      [['running', 5_000, 2_000]],
    );
  });
}

test('an engine that breaks the connection during a reading is down', async () => {
  await assert.rejects(
    measure('closes the connection'),
    (error: unknown) => error instanceof RuntimeError && error.reason === 'EngineDown',
  );
});
