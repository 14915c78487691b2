/** `up --coordinators` as a program: several coordinators and their etcd on this machine. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until, untilPasses } from '../../harness/basics/wait-until.js';
import { missingEtcd } from '../../harness/etcd/etcd-process.js';
import {
  processesNaming,
  type RunningProgram,
  runEverynode,
  startProgram,
} from '../../harness/processes/everynode-processes.js';

const PATIENCE_MS = 120_000;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

describe('up with several coordinators', { concurrency: 1 }, () => {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const log = join(folder, 'up.log');
  const why = missingEtcd();
  let up: RunningProgram | undefined;

  const printed = (): string => readFileSync(log, 'utf8');
  const startUp = async (): Promise<RunningProgram> => {
    const before = existsSync(log) ? printed().length : 0;
    const args = ['up', '--coordinators', '3', '--port', '0', '--host', '127.0.0.1', '--data', data];
    const program = startProgram(
      'coordinator/cli/everynode.js',
      [...args, '--runtime', 'hollow', '--node-name', 'n1'],
      log,
    );
    await until(
      () => {
        if (!program.running) throw new Error(`up ended with ${program.exitStatus}: ${printed()}`);
        return printed().slice(before).includes('Node n1 is Ready');
      },
      { timeoutMs: PATIENCE_MS, what: 'the node to be Ready' },
    );
    return program;
  };
  const coordinators = async (): Promise<string[]> => {
    const api = new CoordinatorApi(readFileSync(join(data, 'kubeconfig'), 'utf8'));
    try {
      const { items } = await api.items<Coordinator>(`/apis/${FLEET_GROUP}/v1/coordinators`);
      return items.map(({ status }) => status.role).sort();
    } finally {
      api.close();
    }
  };
  /** Coordinators and members of etcd. Their arguments contain the data directory in some form. */
  const children = (): number =>
    [1, 2, 3].filter((number) => processesNaming(join(data, `coordinator-${number}`)).length > 0).length +
    [1, 2, 3].filter((number) => processesNaming(`--data-dir=${data}/etcd/etcd-${number}`).length > 0).length;

  const law = (rule: string, body: () => Promise<void>): void => {
    test(rule, async (context) => {
      if (why !== undefined) leaveOut(context, 'up --coordinators', why);
      else await body();
    });
  };

  before(async () => {
    if (why === undefined) up = await startUp();
  });
  after(async () => {
    await up?.end('SIGTERM');
  });

  law('one coordinator leads and two follow', async () => {
    await untilPasses(async () => assert.deepEqual(await coordinators(), ['Follower', 'Follower', 'Leader']));
    assert.equal(children(), 6);
  });

  law('a killed coordinator is started again and follows', async () => {
    const pid = () => Number(readFileSync(join(data, 'coordinator-1', 'coordinator.pid'), 'utf8'));
    process.kill(pid(), 'SIGKILL');
    await untilPasses(
      async () => assert.deepEqual(await coordinators(), ['Follower', 'Follower', 'Leader']),
      PATIENCE_MS,
    );
    assert.match(printed(), /coordinator-1 ended: SIGKILL and is started again/);
  });

  law('Ctrl-C stops all programs, and the next up starts the same cluster again', async () => {
    const api = new CoordinatorApi(readFileSync(join(data, 'kubeconfig'), 'utf8'));
    await api.request('POST', CONFIG_MAPS, { metadata: { name: 'kept' } });
    api.close();
    await up?.end('SIGINT');
    assert.equal(up?.exitStatus, 0);
    assert.equal(children(), 0);
    up = await startUp();
    const again = new CoordinatorApi(readFileSync(join(data, 'kubeconfig'), 'utf8'));
    await again.request('GET', `${CONFIG_MAPS}/kept`);
    again.close();
  });

  law('a killed up leaves no program behind', async () => {
    await up?.end('SIGKILL');
    await untilPasses(() => assert.equal(children(), 0));
  });

  law('flags that do not fit the cluster are refused with one sentence', async () => {
    for (const [args, expected] of [
      [[], /belongs to several coordinators: pass --coordinators/],
      [['--coordinators', '2'], /pass --coordinators 3/],
      [['--coordinators', '3', '--port', '1'], /pass --port \d+/],
    ] as const) {
      const { code, stderr } = await runEverynode(['up', '--data', data, '--runtime', 'hollow', ...args]);
      assert.equal(code, 2);
      assert.match(stderr, /^[^\n]+\n$/);
      assert.match(stderr, expected);
    }
  });

  law('down removes the cluster', async () => {
    const { code, stderr } = await runEverynode(['down', '--data', data, '--yes']);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(existsSync(data), false);
  });
});

test('without etcd, up with several coordinators names the package and creates nothing', async () => {
  const folder = temporaryDirectory();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  const data = join(folder, 'data');
  const args = ['up', '--coordinators', '3', '--data', data, '--runtime', 'hollow'];
  const { code, stderr } = await runEverynode(args, { PATH: bin });
  assert.deepEqual(
    [code, stderr],
    [3, '--coordinators: etcd is not installed; install it with: apt-get install etcd-server.\n'],
  );
  assert.equal(existsSync(data), false);
});
