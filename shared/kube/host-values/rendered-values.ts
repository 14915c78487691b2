/**
 * The values that a Pod uses, as its annotation holds them. The host renders environment and files from it, so that a
 * Pod shows the same values for its whole lifetime, online and offline.
 */
import type { ObjectMeta } from '../objects/meta.js';
import type { HostValue, SecretValue } from './host-values-types.js';

/** Set when the Pod is created: a JSON object from `fieldPath` to value. */
export const HOST_VALUES_ANNOTATION = 'fleet.everynode.dev/host-values';

/** Sources of a value. Each is used as `SOURCE['KEY']` in a `fieldPath`. */
export type ValueSource = 'hostValues' | 'node.metadata.labels' | 'node.metadata.annotations';

const VALUE_PATH = /^(hostValues|node\.metadata\.labels|node\.metadata\.annotations)\['(.*)'\]$/;

interface ValuePath {
  source: ValueSource;
  key: string;
}

/** Returns undefined for a path that names a field of the Pod. */
export function parseValuePath(fieldPath: string): ValuePath | undefined {
  const match = VALUE_PATH.exec(fieldPath);
  return match ? { source: match[1] as ValueSource, key: match[2] ?? '' } : undefined;
}

export function isSecretValue(value: HostValue): value is SecretValue {
  return typeof value === 'object';
}

type Annotated = { metadata: Pick<ObjectMeta, 'annotations'> };

const NONE: ReadonlyMap<string, HostValue> = new Map();

/** By the annotation map, which is shared by all versions of a Pod until it changes. */
const parsed = new WeakMap<Record<string, string>, ReadonlyMap<string, HostValue>>();

/** Returns the Pod's values by `fieldPath`. Empty if it has none, or if the annotation is unreadable. */
export function renderedValues({ metadata: { annotations } }: Annotated): ReadonlyMap<string, HostValue> {
  const text = annotations?.[HOST_VALUES_ANNOTATION];
  if (!annotations || text === undefined) return NONE;
  const known = parsed.get(annotations);
  if (known) return known;
  const values = parse(text);
  parsed.set(annotations, values);
  return values;
}

function parse(text: string): ReadonlyMap<string, HostValue> {
  try {
    const whole: unknown = JSON.parse(text);
    if (typeof whole !== 'object' || whole === null) return NONE;
    return new Map(Object.entries(whole).filter((entry): entry is [string, HostValue] => isValue(entry[1])));
  } catch {
    return NONE;
  }
}

function isValue(value: unknown): value is HostValue {
  if (typeof value === 'string') return true;
  const reference = (value as SecretValue | null)?.secretKeyRef;
  return typeof reference?.name === 'string' && typeof reference.key === 'string';
}

/** Returns the names of the Secrets that the Pod's values refer to. */
export function secretsOfValues(pod: Annotated): string[] {
  return [...renderedValues(pod).values()].flatMap((value) =>
    isSecretValue(value) ? [value.secretKeyRef.name] : [],
  );
}
