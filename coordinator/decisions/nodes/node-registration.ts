/**
 * The labels and taints that a host's own settings give its Node, at the first hello and whenever they change. A host may
 * withdraw only what its registration added. A label or taint that an administrator, a join token or a controller set
 * stays, even where the host asked for the same one. Otherwise root on a host could remove an administrator's taint by asking for it in
 * one hello and not in the next.
 */
import type { Node, Taint } from '../../../shared/kube/nodes/node-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { isLifecycleTaint } from './node-taints.js';

/** On a Node: what its host last asked for, and which of that its registration added. */
export const REGISTERED_ANNOTATION = 'everynode.dev/registered';

type Labels = Readonly<Record<string, string>>;

/** Labels and taints by a host's settings. */
export interface Registration {
  labels: Labels;
  taints: readonly Taint[];
}

/** The annotation's content. `added` is the part of `asked` that the registration put on the Node and that is unchanged since. */
interface Noted {
  asked: Registration;
  added: Registration;
}

/** The Node's labels and taints, and what of them the registration added. */
interface Amended {
  present: Registration;
  added: Registration;
}

const NOTHING: Registration = { labels: {}, taints: [] };

/**
 * The annotation's text of a Node that is created with these labels for a host that asked for `asked`. `given`: labels
 * that came from elsewhere, such as the join token; the host did not add them even where it asks for the same value.
 */
export function firstRegistrationText(asked: Registration, given: Labels): string {
  const labels = Object.entries(asked.labels).filter(([key]) => !Object.hasOwn(given, key));
  const taints = asked.taints.filter((taint) => !isLifecycleTaint(taint));
  return textOf({ asked, added: { labels: Object.fromEntries(labels), taints } });
}

/**
 * The Node after a hello that asks for `asked`; undefined when nothing changes. A Node without a readable annotation was
 * not created by a registration: the request is noted there, and nothing else changes.
 */
export function withRegistration(node: Node, asked: Registration): Node | undefined {
  const text = node.metadata.annotations?.[REGISTERED_ANNOTATION];
  const noted = text === undefined ? undefined : parse(text);
  const present = { labels: node.metadata.labels ?? {}, taints: node.spec?.taints ?? [] };
  const next = noted ? amend(present, noted, asked) : { present, added: NOTHING };
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

function amend(present: Registration, noted: Noted, asked: Registration): Amended {
  const [labels, addedLabels] = amendLabels(present.labels, noted, asked.labels);
  const [taints, addedTaints] = amendTaints(present.taints, noted, asked.taints);
  return { present: { labels, taints }, added: { labels: addedLabels, taints: addedTaints } };
}

/** The Node's labels, and those among them that the registration added. */
function amendLabels(present: Labels, noted: Noted, asked: Labels): [Labels, Labels] {
  const next = new Map(Object.entries(present));
  const added = new Map<string, string>();
  for (const [key, value] of Object.entries(noted.added.labels)) {
    // A label with another value than the host's was changed by an administrator, who owns it from then on.
    if (next.get(key) !== value) continue;
    if (Object.hasOwn(asked, key)) added.set(key, value);
    else next.delete(key);
  }
  for (const [key, value] of Object.entries(asked)) {
    // Asked for before: if the label is absent now, an administrator removed it.
    if (ownValue(noted.asked.labels, key) === value) continue;
    if (next.has(key) && !added.has(key)) continue;
    next.set(key, value);
    added.set(key, value);
  }
  return [Object.fromEntries(next), Object.fromEntries(added)];
}

/** The Node's taints, and those among them that the registration added. Key and effect identify a taint. */
function amendTaints(present: readonly Taint[], noted: Noted, asked: readonly Taint[]): [Taint[], Taint[]] {
  const still = noted.added.taints.filter((taint) => present.some((other) => isEqual(other, taint)));
  const isStill = (taint: Taint) => still.some((other) => isEqual(other, taint));
  // A changed value replaces the taint that the registration added.
  const isKept = (taint: Taint) => !isStill(taint) || asked.some((other) => isEqual(other, taint));
  const kept = present.filter(isKept);
  const fresh = asked.filter(
    (taint) =>
      !noted.asked.taints.some((other) => isEqual(other, taint)) &&
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

/** Equal contents have equal texts. Keys identify what was added: the values are in `asked`. */
function textOf({ asked, added }: Noted): string {
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

/** Undefined for a text that no registration wrote. */
function parse(text: string): Noted | undefined {
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
