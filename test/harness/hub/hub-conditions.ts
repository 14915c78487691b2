/** What a Node of a hub's bench says of itself. */
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { until } from '../basics/wait-until.js';
import type { HubFixture, TestAgent } from './hub-fixture.js';

/** `STATUS REASON` of a condition, `undefined` for a reason that it lacks; undefined where the Node has no such condition. */
export function conditionOf(bench: HubFixture, node: string, type: string): string | undefined {
  const { status } = bench.controlPlane.informers.nodes.get({ name: node }) ?? {};
  const found = findCondition(status?.conditions, type);
  return found && `${found.status} ${found.reason}`;
}

/** Resolves when the agent's link is live, its Node says so, and the control plane has come to rest. */
export async function untilConnected(bench: HubFixture, agent: TestAgent, node: string): Promise<void> {
  await until(() => agent.link.phase === 'live');
  await until(() => conditionOf(bench, node, 'Connected') === 'True LinkUp');
  await bench.controlPlane.settle();
}
