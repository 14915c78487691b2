/** The console's incremental counts and order of a fleet. They equal a full recount. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Host } from '../../../shared/kube/fleet/host-types.js';
import { consoleModule } from '../../harness/console/console-module.js';

const { FleetCounters: FleetTally } =
  await consoleModule<typeof import('../../../console/fleet/fleet-counters.js')>('fleet/fleet-counters.ts');
const { HostSorting: HostOrder } = await consoleModule<
  typeof import('../../../console/fleet/table/host-sorting.js')
>('fleet/table/host-sorting.ts');
const { LabelCounts: LabelTally } = await consoleModule<
  typeof import('../../../console/fleet/table/label-counts.js')
>('fleet/table/label-counts.ts');
const { parseColumns: columnsOf, parseSort: sortOf } = await consoleModule<
  typeof import('../../../console/fleet/table/host-columns.js')
>('fleet/table/host-columns.ts');
const plans =
  await consoleModule<typeof import('../../../console/fleet/map/map-layout.js')>('fleet/map/map-layout.ts');

function host(name: string, site = 'kiel', isDark = false, pressures: string[] = []): Host {
  return {
    ...{ kind: 'Host', apiVersion: 'fleet.everynode.dev/v1', metadata: { name, labels: { site } } },
    status: {
      ...{ state: isDark ? 'Unknown' : 'Ready', pressures, unschedulable: false, taints: 0 },
      ...{ agentVersion: 'v1.0.0', pods: { total: 1, ready: 1, failing: 0 }, failing: [] },
    },
  };
}

/** Successive snapshots of one fleet. An unchanged host is the same object. */
const PICTURES = fc
  .array(
    fc.array(
      fc.record({
        name: fc.constantFrom(...'abcdefgh'),
        change: fc.constantFrom('gone', 'kiel', 'bonn', 'dark', 'full'),
      }),
      { maxLength: 6 },
    ),
    { maxLength: 8 },
  )
  .map((steps) => {
    const fleet = new Map<string, Host>();
    return steps.map((step) => {
      for (const { name, change } of step) {
        if (change === 'gone') fleet.delete(name);
        else if (change === 'dark') fleet.set(name, host(name, 'kiel', true));
        else if (change === 'full') fleet.set(name, host(name, 'bonn', false, ['DiskPressure']));
        else fleet.set(name, host(name, change));
      }
      return [...fleet.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    });
  });

describe('incremental fleet counts', () => {
  const around = { now: 0, version: 'v1.0.0' };
  test('equal a full count, and conditions add up', () => {
    const check = (pictures: Host[][]) => {
      const tally = new FleetTally();
      for (const hosts of pictures) {
        const counts = tally.of(hosts, around);
        assert.deepEqual(counts, new FleetTally().of(hosts, around));
        assert.equal(
          Object.values(counts.conditions).reduce((sum, count) => sum + count),
          hosts.length,
        );
        const dark = hosts.filter(({ status }) => status.state === 'Unknown').length;
        assert.equal(counts.conditions.offline, dark);
      }
    };
    fc.assert(fc.property(PICTURES, check));
  });
  test('are recounted when the thresholds change', () => {
    const tally = new FleetTally();
    const hosts = [host('a'), host('b')];
    assert.equal(tally.of(hosts, around).issues.skew, 0);
    assert.equal(tally.of(hosts, { now: 0, version: 'v2.0.0' }).issues.skew, 2);
  });
  for (const sort of ['label:site', '-label:site', 'condition', '-name', 'nonsense']) {
    test(`are in the order of a full sort: ${sort}`, () => {
      const columns = columnsOf('label:site');
      const check = (pictures: Host[][]) => {
        const order = new HostOrder();
        for (const hosts of pictures)
          assert.deepEqual(
            order.of(hosts, columns, sortOf(sort)),
            new HostOrder().of(hosts, columns, sortOf(sort)),
          );
      };
      fc.assert(fc.property(PICTURES, check));
    });
  }
  test('list the same labels as a full scan', () => {
    const check = (pictures: Host[][]) => {
      const labels = new LabelTally();
      for (const hosts of pictures) {
        const values = new Set(hosts.map(({ metadata }) => metadata.labels?.site)).size;
        const isTold = values > 1 && values < Math.max(hosts.length, 2);
        assert.deepEqual(labels.of(hosts), isTold ? ['site'] : []);
      }
    };
    fc.assert(fc.property(PICTURES, check));
  });
});

test('a label with another value on each host names no site, also if a host lacks it', () => {
  const stores = ['a', 'b', 'c'].map((name) => host(name, `store of ${name}`));
  const bare = { ...host('d'), metadata: { name: 'd' } };
  const labels = new LabelTally();
  assert.deepEqual(labels.of([...stores, bare]), []);
  assert.deepEqual(labels.of([...stores, bare, host('e', 'store of a')]), ['site']);
  assert.deepEqual(labels.of([...stores, bare]), []);
});

test('rows can be sorted by any column, ties by name, and in reverse', () => {
  const hosts = [host('a', 'kiel'), host('b', 'bonn'), host('c', 'kiel')];
  const names = (sort: string) =>
    new HostOrder()
      .of(hosts, columnsOf('label:site'), sortOf(sort))
      .map(({ metadata }) => metadata.name)
      .join('');
  assert.equal(names('label:site'), 'bac');
  assert.equal(names('-label:site'), 'acb');
  assert.equal(names('nonsense'), 'abc');
});

test('cells keep their positions while no group changes its size or name', () => {
  const plan = (...groups: [name: string, count: number][]) =>
    plans.layOutMap(
      groups.map(([name, count]) => ({ name, hosts: Array.from({ length: count }) })),
      500,
    );
  const first = plan(['kiel', 3], ['bonn', 2]);
  assert.equal(plans.hasSameLayout(first, plan(['kiel', 3], ['bonn', 2])), true);
  assert.equal(plans.hasSameLayout(first, plan(['kiel', 2], ['bonn', 3])), false);
  assert.equal(plans.hasSameLayout(first, plan(['kiel', 3], ['ulm', 2])), false);
  assert.equal(plans.hasSameLayout(first, plan(['kiel', 3])), false);
});
