/** Conditions of a Node in a hub fixture. */
import { findCondition } from '../../../shared/kube/objects/conditions.js';
import { until } from '../basics/wait-until.js';
import type { HubFixture, TestAgent } from './hub-fixture.js';

/**
 * Returns `STATUS REASON` of a condition, with `undefined` for a missing reason. Returns undefined if the Node lacks
 * the condition.
 */
export function conditionOf(fixture: HubFixture, node: string, type: string): string | undefined {
  const { status } = fixture.controlPlane.informers.nodes.get({ name: node }) ?? {};
  const found = findCondition(status?.conditions, type);
  return found && `${found.status} ${found.reason}`;
}

/** Resolves when the agent's link is live, its Node shows it, and the control plane is idle. */
export async function untilConnected(fixture: HubFixture, agent: TestAgent, node: string): Promise<void> {
  await until(() => agent.link.phase === 'live');
  await until(() => conditionOf(fixture, node, 'Connected') === 'True LinkUp');
  await fixture.controlPlane.settle();
}
