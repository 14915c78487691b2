/** Annotations of a Pod that ask for nothing that a simulation can pretend: a manifest is not refused for them, so they are told. */

import { ownValue } from '../../shared/kube/objects/label-syntax.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { parseNodeQuery } from './node-query.js';
import { durationMs, SIMULATION_PREFIX } from './simulation-annotations.js';

type Mistake = (text: string) => string | undefined;

const duration: Mistake = (text) =>
  durationMs(text) === undefined ? 'is no duration such as 300ms or 1m30s' : undefined;
const truth: Mistake = (text) => (/^(true|false)$/.test(text) ? undefined : 'is neither "true" nor "false"');
const code: Mistake = (text) =>
  /^\d+$/.test(text) && Number(text) < 256 ? undefined : 'is no exit code from 0 to 255';

const ANNOTATIONS: Readonly<Record<string, Mistake>> = {
  'ready-after': duration,
  fail: truth,
  'fail-after': duration,
  'fail-on': nodes,
  'fail-after-reboot': truth,
  'cut-link': truth,
  'exit-after': duration,
  'exit-code': code,
  pull: (text) => (text === 'fail' ? undefined : 'is not "fail"'),
  'pull-time': duration,
};

/** A sentence for each annotation that counts as absent though it is there. */
export function simulationAnnotationErrors({ metadata }: Pod): string[] {
  const { namespace, name, annotations = {}, ownerReferences: [owner] = [] } = metadata;
  const whose = owner ? `${owner.kind} ${namespace}/${owner.name}` : `Pod ${namespace}/${name}`;
  return Object.entries(annotations).flatMap(([key, text]) => {
    if (!key.startsWith(SIMULATION_PREFIX)) return [];
    const known = ownValue(ANNOTATIONS, key.slice(SIMULATION_PREFIX.length));
    const mistake = known ? known(text) : `is none of ${Object.keys(ANNOTATIONS).join(', ')}`;
    return mistake ? [`${whose}: ${key}: "${text}" ${mistake}; it counts as absent`] : [];
  });
}

function nodes(text: string): string | undefined {
  try {
    parseNodeQuery(text);
    return undefined;
  } catch (error) {
    return `means no nodes: ${error instanceof Error ? error.message : String(error)}`;
  }
}
