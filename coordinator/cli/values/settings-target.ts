/** What the values commands are about: one object, or all that changes the Pods of a DaemonSet. */
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';

const KINDS = {
  HostValues: { resource: 'hostvalues', names: ['hv', 'hostvalues', 'hostvalues.fleet.everynode.dev'] },
  DaemonSetOverride: {
    resource: 'daemonsetoverrides',
    names: [
      'dso',
      'daemonsetoverride',
      'daemonsetoverrides',
      'daemonsetoverride.fleet.everynode.dev',
      'daemonsetoverrides.fleet.everynode.dev',
    ],
  },
} as const;

const DAEMON_SETS = ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps'];

export interface SettingsObject {
  kind: keyof typeof KINDS;
  resource: string;
  name: string;
}

type HistoryTarget = SettingsObject | { kind: 'DaemonSet'; name: string };

/** `NAME` is a HostValues object. Throws ExitError for another kind. */
export function historyTarget(text: string): HistoryTarget {
  const [kind = '', name = '', ...more] = text.includes('/') ? text.split('/') : ['hv', text];
  if (name && more.length === 0) {
    if (DAEMON_SETS.includes(kind)) return { kind: 'DaemonSet', name };
    if (isNameOf('HostValues', kind)) return objectTarget('HostValues', name);
    if (isNameOf('DaemonSetOverride', kind)) return objectTarget('DaemonSetOverride', name);
  }
  throw new ExitError(EXIT_CODES.usage, `"${text}" must be NAME, hv/NAME, dso/NAME or ds/NAME.`);
}

/** Like `historyTarget`, without DaemonSets. Throws ExitError. */
export function undoTarget(text: string): SettingsObject {
  const target = historyTarget(text);
  if (target.kind !== 'DaemonSet') return target;
  const remedy = `kubectl rollout undo ds/${target.name} restores its template`;
  throw new ExitError(
    EXIT_CODES.usage,
    `Name the HostValues or the override to restore: NAME, hv/NAME or dso/NAME. ${remedy}.`,
  );
}

function isNameOf(kind: keyof typeof KINDS, text: string): boolean {
  return (KINDS[kind].names as readonly string[]).includes(text);
}

function objectTarget(kind: keyof typeof KINDS, name: string): SettingsObject {
  return { kind, resource: KINDS[kind].resource, name };
}
