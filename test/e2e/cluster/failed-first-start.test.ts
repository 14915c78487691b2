/** A first start with etcd that fails after the fleet was made can be repeated. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { runEverynode, startProgram } from '../../harness/processes/everynode-processes.js';

test('the first start with etcd keeps the keys of the fleet if the port is in use', async (context) => {
  const why = missingEtcd();
  if (why !== undefined) {
    leaveOut(context, 'a failed first start', why);
    return;
  }
  const etcd = await startEtcd();
  context.after(() => etcd.stop());
  const occupant = createServer().listen(0, '127.0.0.1');
  await until(() => occupant.listening, { what: 'the port to be in use' });
  const { port } = occupant.address() as { port: number };
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const flags = ['--data', data, '--host', '127.0.0.1', '--port', `${port}`, '--advertise', '127.0.0.1'];
  const args = ['coordinator', ...flags, '--etcd', etcd.endpoints.join(',')];
  const failed = await runEverynode(args);
  assert.notEqual(failed.code, 0);
  assert.match(failed.stderr, new RegExp(`${port}`));
  assert.ok(existsSync(join(data, 'member.json')));
  occupant.close();
  const log = join(folder, 'log');
  const program = startProgram('coordinator/cli/everynode.js', args, log);
  context.after(() => program.end('SIGKILL'));
  await until(() => existsSync(log) && program.running && existsSync(join(data, 'coordinator.pid')), {
    ...{ what: 'the coordinator to serve', timeoutMs: 30_000 },
  });
});
