/** Bulk actions on hosts, as data. */

import {
  MAINTENANCE_TAINT,
  type NodeChange,
  parseTaint,
  taintText,
} from '../../../shared/kube/nodes/node-change.js';
import { isLabelKey, isLabelValue } from '../../../shared/kube/objects/label-syntax.js';

export interface BulkAction {
  id: string;
  name: string;
  /** Example of the input. Absent if the action needs none. */
  hint?: string;
  /** Returns the change for the typed text, or undefined if invalid. Absent for actions without a change of Nodes. */
  change?: (text: string) => NodeChange | undefined;
  /** The effect, as a sentence. `hosts` is their number: `10 hosts`. */
  effect: (text: string, hosts: string) => string;
  /** Returns the equivalent kubectl command for the hosts `names`. */
  command: (text: string, names: string) => string;
}

const MAINTENANCE = taintText(MAINTENANCE_TAINT);

/** In display order. */
export const NODE_ACTIONS: readonly BulkAction[] = [
  {
    id: 'label',
    name: 'Label',
    hint: 'site=kiel, or site- to remove it',
    change: labelChange,
    effect: setOrRemove,
    command: (text, names) => `kubectl label nodes --overwrite ${names} ${text.trim()}`,
  },
  {
    id: 'taint',
    name: 'Taint',
    hint: 'repair=yes:NoSchedule, or repair:NoSchedule-',
    change: taintChange,
    effect: setOrRemove,
    command: (text, names) => `kubectl taint nodes --overwrite ${names} ${text.trim()}`,
  },
  {
    id: 'cordon',
    name: 'Cordon',
    change: () => ({ unschedulable: true }),
    effect: () =>
      'Running Pods are not affected. DaemonSets can still create Pods on cordoned hosts; other Pods cannot be scheduled.',
    command: (_, names) => `kubectl cordon ${names}`,
  },
  {
    id: 'uncordon',
    name: 'Uncordon',
    change: () => ({ unschedulable: false }),
    effect: () => 'Pods can be scheduled on these hosts again.',
    command: (_, names) => `kubectl uncordon ${names}`,
  },
  {
    id: 'maintenance',
    name: 'Maintenance',
    change: () => ({ unschedulable: true, taints: { add: [MAINTENANCE_TAINT] } }),
    effect: () =>
      'Cordons and taints the hosts. All Pods that do not tolerate the taint are evicted until maintenance ends.',
    command: (_, names) => `kubectl cordon ${names} && kubectl taint nodes ${names} ${MAINTENANCE}`,
  },
  {
    id: 'end-maintenance',
    name: 'End maintenance',
    change: () => ({ unschedulable: false, taints: { remove: [MAINTENANCE_TAINT] } }),
    effect: () => 'Removes cordon and taint. DaemonSets create their Pods again.',
    command: (_, names) => `kubectl uncordon ${names} && kubectl taint nodes ${names} ${MAINTENANCE}-`,
  },
];

export const REVOKE: BulkAction = {
  id: 'revoke',
  name: 'Revoke',
  effect: () =>
    'Closes the links of the hosts and bars their keys. To rejoin, a host needs an empty data directory, and its Node must be deleted or renamed. Running containers continue. This cannot be undone.',
  command: (_, names) => `for host in ${names}; do everynode node revoke $host; done`,
};

function setOrRemove(text: string, hosts: string): string {
  const change = text.trim();
  return change.endsWith('-')
    ? `Removes ${change.slice(0, -1)} from ${hosts}.`
    : `Sets ${change} on ${hosts}.`;
}

function labelChange(text: string): NodeChange | undefined {
  const [, key = '', sign, value = ''] = /^([^=\s]+?)(?:(=)(.*)|-)?$/.exec(text.trim()) ?? [];
  const takesAway = sign === undefined && text.trim().endsWith('-');
  // Like kubectl: an empty value needs the `=`.
  if (sign === undefined && !takesAway) return undefined;
  if (!isLabelKey(key) || !isLabelValue(value)) return undefined;
  return { labels: { [key]: takesAway ? null : value } };
}

function taintChange(text: string): NodeChange | undefined {
  const trimmed = text.trim();
  const taint = parseTaint(trimmed.replace(/-$/, ''));
  if (!taint || !isLabelKey(taint.key) || !isLabelValue(taint.value ?? '')) return undefined;
  const { key, effect } = taint;
  return { taints: trimmed.endsWith('-') ? { remove: [{ key, effect }] } : { add: [taint] } };
}
