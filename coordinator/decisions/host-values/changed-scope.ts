/** Decides which hosts a change of HostValues concerns. */
import { isDeepStrictEqual } from 'node:util';
import type { HostValuesSpec } from '../../../shared/kube/host-values/host-values-types.js';

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
  const names = new Set([...Object.keys(before.hosts ?? {}), ...Object.keys(after.hosts ?? {})]);
  const hasRank = (before.priority ?? 0) !== (after.priority ?? 0);
  const named = [...names].filter((name) => {
    const [one, other] = [before, after].map(({ hosts }) => pick(hosts?.[name], keys));
    return !isDeepStrictEqual(one, other) || (hasRank && Object.keys(one ?? {}).length > 0);
  });
  return named.length > 0 ? { named } : undefined;
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
