/** Faults that come too late: a container may exit by itself before it is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChaosFaults } from '../../chaos/chaos-faults.js';
import type { ChaosFleet } from '../../chaos/chaos-fleet.js';
import type { ChaosHost } from '../../chaos/chaos-host.js';
import type { RequestedState } from '../../chaos/requested-state.js';

/** One host with one container that runs until it is killed. The engine answers the kill with an error. */
function faultsOn(after: () => object[]): ChaosFaults {
  const refuse = () => Promise.reject(new Error('container is not running'));
  let looks = 0;
  const all = async () => {
    looks += 1;
    return looks === 1 ? [{ id: 'a', state: 'running', attempt: 0 }] : after();
  };
  const host: Pick<ChaosHost, 'name' | 'engine'> = {
    name: 'h',
    engine: () => ({ all, kill: refuse, remove: refuse }) as never,
  };
  return new ChaosFaults({ hosts: [host] } as unknown as ChaosFleet, {} as RequestedState, () => false);
}

for (const kind of ['kill container', 'remove container'] as const) {
  test(`${kind}: a container that has just exited does not end the run, a container that cannot be killed does`, async () => {
    const fault = { kind, node: 0, index: 0 } as never;
    const running = { id: 'a', state: 'running', attempt: 0 };
    const gone = [() => [], () => [{ ...running, state: 'exited' }], () => [{ ...running, id: 'b' }]];
    for (const after of gone) assert.equal(await faultsOn(after).carryOut(fault), true);
    const down = () => {
      throw new Error('the engine is down');
    };
    assert.equal(await faultsOn(down).carryOut(fault), true);
    await assert.rejects(faultsOn(() => [running]).carryOut(fault), /not running/);
  });
}
