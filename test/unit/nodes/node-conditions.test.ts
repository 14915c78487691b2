/** The hub's writes when many nodes become unreachable together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NodeStatusWriter } from '../../../coordinator/hub/reports/node-status-writer.js';
import type { Node } from '../../../shared/kube/nodes/node-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { BusyClock } from '../../harness/basics/test-clocks.js';

test('when many nodes become unreachable at once, all are written, in slices', async () => {
  const written: string[] = [];
  const deps = {
    ...{
      clock: new BusyClock(0),
      log: silentLogger,
      liveness: { stateOf: () => ({ phase: 'away', end: 'notReconnected' }) },
    },
    queue: { run: (_: string, job: () => Promise<number>) => job().then(() => undefined) },
    informers: {
      nodes: { get: () => ({ status: { conditions: [{ type: 'Connected', status: 'True' }] } }) },
      pods: { indexed: () => [] },
    },
    registry: {
      writeStatus: async (_: unknown, { name }: { name: string }, statusOf: (node: Node) => unknown) => {
        statusOf({} as Node);
        written.push(name);
        return { revision: 1, object: () => ({}) };
      },
    },
  } as unknown as ConstructorParameters<typeof NodeStatusWriter>[0];
  const conditions = new NodeStatusWriter(deps);
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
  for (const name of names) conditions.contactLost(name);
  let turns = 0;
  for (let before = -1; written.length < names.length; turns += 1) {
    assert.ok(written.length - before < 50, 'others have their turn');
    before = written.length;
    await nextTurn();
    assert.ok(turns < 1_000, 'it goes on');
  }
  assert.deepEqual(written, names);
  assert.ok(turns > 5);
  conditions.stop();
});
