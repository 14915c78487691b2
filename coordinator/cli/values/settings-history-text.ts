/** Tables of earlier specs, and of all changes that replaced Pods of a DaemonSet. */
import {
  changeText,
  type KeptSpec,
  keptSpecs,
  type ObjectWithHistory,
} from '../../../shared/kube/objects/spec-history.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { tableLines } from '../../../shared/process/output/text-table.js';
import { valueUsesOf } from '../../decisions/host-values/value-uses.js';
import type { PodSources } from './settings-client.js';

const CHANGE_CAUSE = 'kubernetes.io/change-cause';

/** Returns a line for each revision, the oldest first. */
export function historyTable(object: ObjectWithHistory): string[] {
  const rows = keptSpecs(object).map((kept) => [
    String(kept.generation),
    ...whenAndBy(kept),
    changeText(kept),
  ]);
  return tableLines([['REVISION', 'CHANGED', 'BY', 'CHANGE'], ...rows]);
}

function whenAndBy({
  changedAt = '-',
  changedBy = '-',
}: Pick<KeptSpec, 'changedAt' | 'changedBy'>): string[] {
  return [changedAt, changedBy];
}

interface Row {
  time: string;
  cells: string[];
}

/** Returns a line for each change of the template, of values that it uses and of its overrides, the oldest first. */
export function replacementTable(sources: PodSources): string[] {
  const { overrides } = sources;
  const keys = usedKeys(sources);
  const values = sources.hostValues.flatMap((object) =>
    keptSpecs(object).flatMap((kept) =>
      isUsed(kept, object, keys) ? [settingsRow(`HostValues ${object.metadata.name}`, kept)] : [],
    ),
  );
  const rows = [
    ...sources.revisions.map(templateRow),
    ...values,
    ...overrides.flatMap((object) =>
      keptSpecs(object).map((kept) => settingsRow(`DaemonSetOverride ${object.metadata.name}`, kept)),
    ),
  ];
  rows.sort((a, b) => (a.time < b.time ? -1 : 1));
  return tableLines([['CHANGED', 'SOURCE', 'REVISION', 'BY', 'CHANGE'], ...rows.map(({ cells }) => cells)]);
}

function templateRow({ metadata, revision }: PodSources['revisions'][number]): Row {
  const time = metadata.creationTimestamp ?? '';
  const cause = metadata.annotations?.[CHANGE_CAUSE] ?? '-';
  return { time, cells: [time, 'template', String(revision), '-', cause] };
}

function settingsRow(source: string, kept: KeptSpec): Row {
  const [when = '', by = ''] = whenAndBy(kept);
  return { time: kept.changedAt ?? '', cells: [when, source, String(kept.generation), by, changeText(kept)] };
}

/** Keys of the template and of the overrides. */
function usedKeys({ daemonSet, overrides }: PodSources): ReadonlySet<string> {
  const templates = [
    daemonSet.spec.template,
    ...overrides.map(({ spec: { containers = [], volumes = [] } }) => ({ spec: { containers, volumes } })),
  ];
  return new Set(templates.flatMap((template) => valueUsesOf(template as PodTemplateSpec)?.keys ?? []));
}

/** A change of the selector or the priority concerns all keys that the object gives to selected hosts. */
function isUsed({ paths }: KeptSpec, { spec }: ObjectWithHistory, keys: ReadonlySet<string>): boolean {
  const { values = {}, secrets = {}, hosts = {} } = spec as PodSources['hostValues'][number]['spec'];
  const all = [...Object.keys(values), ...Object.keys(secrets)];
  const own = Object.values(hosts).flatMap((each) => Object.keys(each));
  const isAnyUsed = [...all, ...own].some((key) => keys.has(key));
  if (!paths) return isAnyUsed;
  return paths.some(([field, ...rest]) => {
    if (field === 'nodeSelector' || field === 'priority') return isAnyUsed;
    return keys.has(rest.at(-1) ?? '') || keys.has(rest[0] ?? '');
  });
}
