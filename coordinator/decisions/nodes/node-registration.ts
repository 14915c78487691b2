/**
 * Applies the labels and taints from a host's settings to its Node, at each hello. A host may withdraw only labels and
 * taints that its registration added. Otherwise root on a host could remove an administrator's taint: request the same
 * taint in one hello and omit it in the next.
 */
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { isLifecycleTaint } from './node-taints.js';

/** Annotation of a Node: the host's latest request, and the part of it that the registration added. */
export const REGISTERED_ANNOTATION = 'everynode.dev/registered';

type Labels = Readonly<Record<string, string>>;

export interface Registration {
  labels: Labels;
  taints: readonly Taint[];
}

/** The annotation's content. `added` is the part of `asked` that the registration added and that is unchanged since. */
interface RegistrationRecord {
  asked: Registration;
  added: Registration;
}

/** The Node's labels and taints, and the ones that the registration added. */
interface AmendedNode {
  present: Registration;
  added: Registration;
}

const NOTHING: Registration = { labels: {}, taints: [] };

/**
 * Returns the annotation's text for a new Node. `otherLabels` are labels from other sources, such as the join token. They do
 * not count as added by the host, even if it requests the same value.
 */
export function firstRegistrationText(asked: Registration, otherLabels: Labels): string {
  const labels = Object.entries(asked.labels).filter(([key]) => !Object.hasOwn(otherLabels, key));
  const taints = asked.taints.filter((taint) => !isLifecycleTaint(taint));
  return textOf({ asked, added: { labels: Object.fromEntries(labels), taints } });
}

/**
 * Returns the Node after a hello that requests `asked`; undefined if nothing changes. For a Node without a readable
 * annotation, only the annotation is written.
 */
export function withRegistration(node: Node, asked: Registration): Node | undefined {
  const text = node.metadata.annotations?.[REGISTERED_ANNOTATION];
  const recorded = text === undefined ? undefined : parse(text);
  const present = { labels: node.metadata.labels ?? {}, taints: node.spec?.taints ?? [] };
  const next = recorded ? amend(present, recorded, asked) : { present, added: NOTHING };
  const nextText = textOf({ asked, added: next.added });
  if (nextText === text) return undefined;
  const { taints: _, ...spec } = node.spec ?? {};
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: { ...next.present.labels },
      annotations: { ...node.metadata.annotations, [REGISTERED_ANNOTATION]: nextText },
    },
    spec: { ...spec, ...(next.present.taints.length > 0 ? { taints: [...next.present.taints] } : {}) },
  };
}

function amend(present: Registration, recorded: RegistrationRecord, asked: Registration): AmendedNode {
  const [labels, addedLabels] = amendLabels(present.labels, recorded, asked.labels);
  const [taints, addedTaints] = amendTaints(present.taints, recorded, asked.taints);
  return { present: { labels, taints }, added: { labels: addedLabels, taints: addedTaints } };
}

/** Returns the Node's labels, and the ones that the registration added. */
function amendLabels(present: Labels, recorded: RegistrationRecord, asked: Labels): [Labels, Labels] {
  const next = new Map(Object.entries(present));
  const added = new Map<string, string>();
  for (const [key, value] of Object.entries(recorded.added.labels)) {
    // Another value means that an administrator changed the label and owns it now.
    if (next.get(key) !== value) continue;
    if (Object.hasOwn(asked, key)) added.set(key, value);
    else next.delete(key);
  }
  for (const [key, value] of Object.entries(asked)) {
    // Requested before: if the label is missing now, an administrator removed it.
    if (ownValue(recorded.asked.labels, key) === value) continue;
    if (next.has(key) && !added.has(key)) continue;
    next.set(key, value);
    added.set(key, value);
  }
  return [Object.fromEntries(next), Object.fromEntries(added)];
}

/** Returns the Node's taints, and the ones that the registration added. Key and effect identify a taint. */
function amendTaints(
  present: readonly Taint[],
  recorded: RegistrationRecord,
  asked: readonly Taint[],
): [Taint[], Taint[]] {
  const still = recorded.added.taints.filter((taint) => present.some((other) => isEqual(other, taint)));
  const isStill = (taint: Taint) => still.some((other) => isEqual(other, taint));
  // A changed value replaces the taint that the registration added.
  const isKept = (taint: Taint) => !isStill(taint) || asked.some((other) => isEqual(other, taint));
  const kept = present.filter(isKept);
  const fresh = asked.filter(
    (taint) =>
      !recorded.asked.taints.some((other) => isEqual(other, taint)) &&
      !kept.some((other) => isSameTaint(other, taint)) &&
      !isLifecycleTaint(taint),
  );
  return [
    [...kept, ...fresh],
    [...still.filter(isKept), ...fresh],
  ];
}

function isSameTaint(one: Taint, other: Taint): boolean {
  return one.key === other.key && one.effect === other.effect;
}

function isEqual(one: Taint, other: Taint): boolean {
  return isSameTaint(one, other) && (one.value ?? '') === (other.value ?? '');
}

/** Equal contents have equal texts. Only the keys of added items are written, because the values are in `asked`. */
function textOf({ asked, added }: RegistrationRecord): string {
  const sorted = Object.entries(asked.labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify({
    labels: Object.fromEntries(sorted),
    taints: asked.taints,
    added: { labels: Object.keys(added.labels).sort(), taints: added.taints.map(taintId).sort() },
  });
}

function taintId({ key, effect }: Taint): string {
  return `${key}:${effect}`;
}

/** Returns undefined for an unreadable text. */
function parse(text: string): RegistrationRecord | undefined {
  try {
    const { labels, taints, added } = JSON.parse(text) as Registration & {
      added: { labels: string[]; taints: string[] };
    };
    const ours = new Set(added.labels);
    const oursTaints = new Set(added.taints);
    return {
      asked: { labels, taints },
      added: {
        labels: Object.fromEntries(Object.entries(labels).filter(([key]) => ours.has(key))),
        taints: taints.filter((taint) => oursTaints.has(taintId(taint))),
      },
    };
  } catch {
    return undefined;
  }
}
