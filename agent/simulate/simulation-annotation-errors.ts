/** Finds annotations that a simulation cannot apply. A manifest is never rejected for them, so they become warnings. */

import { ownValue } from '../../shared/kube/objects/label-syntax.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import { parseNodeQuery } from './node-query.js';
import { durationMs, SIMULATION_PREFIX } from './simulation-annotations.js';

type Check = (text: string) => string | undefined;

const duration: Check = (text) =>
  durationMs(text) === undefined ? 'is not a duration such as 300ms or 1m30s' : undefined;
const truthValue: Check = (text) =>
  /^(true|false)$/.test(text) ? undefined : 'is neither "true" nor "false"';
const code: Check = (text) =>
  /^\d+$/.test(text) && Number(text) < 256 ? undefined : 'is not an exit code from 0 to 255';

const ANNOTATIONS: Readonly<Record<string, Check>> = {
  'ready-after': duration,
  fail: truthValue,
  'fail-after': duration,
  'fail-on': nodes,
  'fail-after-reboot': truthValue,
  'cut-link': truthValue,
  'exit-after': duration,
  'exit-code': code,
  pull: (text) => (text === 'fail' ? undefined : 'is not "fail"'),
  'pull-time': duration,
};

/** Returns a sentence for each annotation that is ignored. */
export function simulationAnnotationErrors({ metadata }: Pod): string[] {
  const { namespace, name, annotations = {}, ownerReferences: [owner] = [] } = metadata;
  const subject = owner ? `${owner.kind} ${namespace}/${owner.name}` : `Pod ${namespace}/${name}`;
  return Object.entries(annotations).flatMap(([key, text]) => {
    if (!key.startsWith(SIMULATION_PREFIX)) return [];
    const known = ownValue(ANNOTATIONS, key.slice(SIMULATION_PREFIX.length));
    const error = known ? known(text) : `is not one of ${Object.keys(ANNOTATIONS).join(', ')}`;
    return error ? [`${subject}: ${key}: "${text}" ${error}; it is ignored`] : [];
  });
}

function nodes(text: string): string | undefined {
  try {
    parseNodeQuery(text);
    return undefined;
  } catch (error) {
    return `selects no nodes: ${error instanceof Error ? error.message : String(error)}`;
  }
}
