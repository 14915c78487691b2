/** What groups of hosts would run after a change: images, overridden fields and values. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import {
  CHANGING_ACTIONS,
  type DaemonSetPlan,
  type PlannedHost,
} from '../../../shared/kube/fleet/plan-types.js';
import { containersOf } from '../../../shared/kube/host-values/resource-values.js';
import { renderedContainers } from '../../decisions/host-values/rendered-pod.js';
import { shownSettings } from '../../decisions/host-values/shown-value.js';
import { type HostVariant, planVariants } from '../../decisions/plan/plan-variants.js';
import { type NodeReader, placementVerdict } from '../daemonsets/daemonset-node-view.js';
import { type NodeTemplate, nodeTemplate } from '../host-values/node-template.js';

/** Covers eligible hosts, without those whose Pod cannot be made. `planned`: sorted by name. */
export function plannedVariants(
  reader: NodeReader,
  daemonSet: DaemonSet,
  planned: readonly PlannedHost[],
): Pick<DaemonSetPlan, 'variants' | 'otherVariants'> {
  const hosts = planned.flatMap(({ node: name, action }): HostVariant[] => {
    const node = reader.nodes.get({ name });
    if (!node || !placementVerdict(node, daemonSet).shouldRun) return [];
    const made = nodeTemplate(reader, daemonSet, node);
    if (made.kind === 'refused') return [];
    const isChanging = CHANGING_ACTIONS.includes(action);
    return [{ node: name, isChanging, images: imagesOf(made), settings: shownSettings(made) }];
  });
  return planVariants(hosts);
}

function imagesOf({
  daemonSet,
  values,
}: Extract<NodeTemplate, { kind: 'resolved' }>): Record<string, string> {
  const { template } = daemonSet.spec;
  const containers = values
    ? renderedContainers(template, values.uses, values.resolved)
    : containersOf(template);
  return Object.fromEntries(containers.map(({ name, image }) => [name ?? '', image ?? '']));
}
