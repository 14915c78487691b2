import assert from 'node:assert/strict';
import { startEndpointController } from '../../../coordinator/controllers/services/endpoint-controller.js';
import { podKind, serviceKind } from '../../../coordinator/kinds/index.js';
import { until } from '../../harness/basics/wait-until.js';
import { GATHERED_MS } from '../../harness/controllers/service-fixture.js';
import { conditionOf, untilConnected } from '../../harness/hub/hub-conditions.js';
import { GRACE_MS, withHub } from '../../harness/hub/hub-fixture.js';

withHub('endpoints of a lost host become unready, and ready again when it returns', async (fixture) => {
  const { controlPlane: plane } = fixture;
  const { registry, informers } = plane;
  const controller = startEndpointController({
    ...plane,
    recordEvent: plane.events.forComponent('endpoint-slice-controller'),
  });
  try {
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    await registry.create(serviceKind, 'default', { metadata: { name: 'web' }, spec });
    const agent = await fixture.agent('n1');
    const { metadata } = await fixture.boundPod('p', 'n1');
    await registry.modify(podKind, metadata, (pod) => {
      pod.metadata.labels = { app: 'web' };
      return undefined;
    });
    const { uid = '' } = metadata;
    const report = ({ link }: typeof agent) =>
      link.outbox.putPod({
        uid,
        namespace: 'default',
        name: 'p',
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          podIPs: [{ ip: '172.17.0.2' }],
        },
      });
    /** Waits until the only endpoint has this readiness. The gather time passes while it waits. */
    const untilReady = (ready: boolean) =>
      until(async () => {
        await plane.advance(GATHERED_MS);
        const listed = [...informers.endpointSlices.list()].flatMap(({ endpoints }) => endpoints ?? []);
        return listed.length === 1 && listed[0]?.conditions?.ready === ready;
      });
    report(agent);
    await untilConnected(fixture, agent, 'n1');
    await untilReady(true);
    agent.link.stop();
    await until(() => fixture.liveness.stateOf('n1')?.phase === 'away');
    await plane.advance(GRACE_MS);
    assert.match(conditionOf(fixture, 'n1', 'Ready') ?? '', /^Unknown /);
    await untilReady(false);
    const back = await fixture.agent('n1', { instanceID: 'back' });
    report(back);
    await untilReady(true);
  } finally {
    await controller.stop();
  }
});
