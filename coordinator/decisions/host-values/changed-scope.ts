/** Decides which hosts a change of HostValues concerns. */
import { isDeepStrictEqual } from 'node:util';
import type { HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';

type Hosts = NonNullable<HostValuesSpec['hosts']>;

/** `named`: only these hosts. Absent: all hosts that the object names or selects. */
interface ChangedScope {
  named?: readonly string[];
}

/** Returns undefined if no template that uses these keys is concerned. */
export function changedScope(
  previous: HostValuesSpec | undefined,
  current: HostValuesSpec | undefined,
  keys: readonly string[],
): ChangedScope | undefined {
  if (keys.length === 0) return undefined;
  const before = previous ?? {};
  const after = current ?? {};
  const isShared = !isDeepStrictEqual(sharedPart(before, keys), sharedPart(after, keys));
  if (isShared) return {};
  const hasRank = (before.priority ?? 0) !== (after.priority ?? 0);
  const named = changedHosts(before.hosts ?? {}, after.hosts ?? {}, keys, hasRank);
  return named.length > 0 ? { named } : undefined;
}

/**
 * Compares key by key: a copy of each host's values would cost more than the rest of a change of one host. Both objects
 * share the values of hosts that a patch did not change.
 */
function changedHosts(before: Hosts, after: Hosts, keys: readonly string[], hasRank: boolean): string[] {
  const differs = (name: string) =>
    (hasRank || before[name] !== after[name]) &&
    keys.some((key) => {
      const [one, other] = [valueOn(before, name, key), valueOn(after, name, key)];
      return one !== other || (hasRank && one !== undefined);
    });
  const left = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return [...Object.keys(after), ...left].filter(differs);
}

function valueOn(hosts: Hosts, name: string, key: string): string | undefined {
  return ownValue(ownValue(hosts, name), key);
}

/** Returns what the spec says about the keys to all selected hosts. */
function sharedPart(
  { priority = 0, nodeSelector, values, secrets }: HostValuesSpec,
  keys: readonly string[],
) {
  const own = { values: pick(values, keys), secrets: pick(secrets, keys) };
  const isUnused = Object.keys(own.values).length === 0 && Object.keys(own.secrets).length === 0;
  return isUnused ? own : { ...own, priority, nodeSelector };
}

function pick<T>(map: Readonly<Record<string, T>> | undefined, keys: readonly string[]): Record<string, T> {
  return Object.fromEntries(
    keys.flatMap((key) => (map && Object.hasOwn(map, key) ? [[key, map[key] as T]] : [])),
  );
}
