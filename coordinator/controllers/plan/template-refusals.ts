/** Finds out whether the API would refuse the Pods of a plan: one Pod of each template is created in a dry run. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { daemonPod } from '../../decisions/daemonsets/daemon-pod.js';
import { type NodeReader, placementVerdict } from '../daemonsets/daemonset-node-view.js';
import { nodeTemplate } from '../host-values/node-template.js';

/** Limits the cost of one plan. Pods of further templates are assumed to be accepted. */
const MOST_TEMPLATES = 50;

interface TemplateRefusals {
  /** The API's message for the first refused template. */
  first: string | undefined;
  isRefused(node: string): boolean;
}

interface RefusalSubject {
  reader: NodeReader;
  daemonSet: DaemonSet;
  hash: string;
  /** Returns why a create of this Pod would be refused now, or undefined. */
  refusalOf(pod: Pod): Promise<string | undefined>;
}

/** The template without overrides is checked even if no host would run it. */
export async function templateRefusals(
  { reader, daemonSet, hash, refusalOf }: RefusalSubject,
  names: readonly string[],
): Promise<TemplateRefusals> {
  const byTemplate = new Map<DaemonSet, string | undefined>();
  const check = async (made: DaemonSet, name: string) => {
    if (byTemplate.has(made) || byTemplate.size >= MOST_TEMPLATES) return;
    byTemplate.set(made, await refusalOf(daemonPod(made, name, hash)));
  };
  await check(daemonSet, names[0] ?? 'node');
  const templates = new Map<string, DaemonSet>();
  for (const name of names) {
    const node = reader.nodes.get({ name });
    if (!node || !placementVerdict(node, daemonSet).shouldRun) continue;
    const made = nodeTemplate(reader, daemonSet, node);
    if (made.kind === 'refused') continue;
    templates.set(name, made.daemonSet);
    await check(made.daemonSet, name);
  }
  return {
    first: [...byTemplate.values()].find((message) => message !== undefined),
    isRefused: (name) => byTemplate.get(templates.get(name) ?? daemonSet) !== undefined,
  };
}
