import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEndpointController } from '../../../coordinator/controllers/services/endpoint-controller.js';
import { podKind, serviceKind } from '../../../coordinator/kinds/index.js';
import { isGone } from '../../../shared/kube/objects/api-status.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const HOSTS = Array.from({ length: 30 }, (_, index) => `n${String(index).padStart(2, '0')}`);
const GATHERED_MS = 1_000;
/** One Pod at a time, and some for changes that are still being gathered. */
const FEWEST_READY = HOSTS.length - 5;

/** Reports the address of each running Pod in the host network. */
function reportAddresses(fleet: DaemonFleet): void {
  fleet.informers.pods.onChange(({ current }) => {
    if (current?.status?.phase !== 'Running' || current.status.podIP) return;
    const ip = `10.0.0.${Number(current.spec.nodeName?.slice(1)) + 1}`;
    const address = { hostIP: ip, podIP: ip, podIPs: [{ ip }] };
    const write = fleet.registry.writeStatus(podKind, current.metadata, ({ status }) => ({
      ...status,
      ...address,
    }));
    write.catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  });
}

test('during a rolling update a Service keeps ready endpoints, and ends with the new Pods', async () => {
  const fleet = await DaemonFleet.start(HOSTS);
  reportAddresses(fleet);
  const { registry, informers, clock } = fleet;
  let writes = 0;
  let fewest = Number.POSITIVE_INFINITY;
  const listed = () => [...informers.endpointSlices.list()].flatMap(({ endpoints }) => endpoints ?? []);
  const ready = () => listed().filter(({ conditions }) => conditions?.ready);
  const controller = startEndpointController({
    ...{ registry, informers, clock, recordEvent: () => undefined },
    log: silentLogger,
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await fleet.settle();
  };
  try {
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    await registry.create(serviceKind, 'default', { metadata: { name: 'web' }, spec });
    const template = (image: string) => ({
      metadata: { labels: { app: 'web' } },
      spec: { hostNetwork: true, containers: [{ name: 'app', image }] },
    });
    await fleet.create('web', {
      template: template('app:1'),
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    });
    await fleet.settle();
    await pass(GATHERED_MS);
    assert.equal(ready().length, HOSTS.length);
    assert.deepEqual(
      ready()
        .map(({ hostname }) => hostname)
        .sort(),
      HOSTS,
      'each daemon is named after its node',
    );
    informers.endpointSlices.onChange(({ previous, current }) => {
      if (!previous || !current) return;
      writes += 1;
      fewest = Math.min(fewest, ready().length);
    });
    const old = new Set(fleet.pods().map(({ metadata }) => metadata.name));
    await fleet.setImage('web', 'app:2');
    const isUpdated = ({ spec: { containers } }: Pod) => containers[0]?.image === 'app:2';
    for (let round = 0; round < 200 && !fleet.pods().every(isUpdated); round += 1) await pass(200);
    await pass(GATHERED_MS);
    await pass(GATHERED_MS);
    assert.equal(ready().length, HOSTS.length);
    assert.ok(ready().every(({ targetRef }) => !old.has(targetRef?.name ?? '')));
    assert.ok(writes > 0 && writes <= 2 * HOSTS.length, `${writes} writes of the slice`);
    assert.equal([...informers.endpointSlices.list()].length, 1);
    assert.ok(fewest >= FEWEST_READY, `at least ${fewest} endpoints were ready`);
  } finally {
    await controller.stop();
    await fleet.stop();
  }
});
