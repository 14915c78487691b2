/** What a host's own settings give its Node, at the first hello and whenever they have changed since. */
import type { Node, Taint } from '../../shared/kube/node.js';

/** Of a Node: what its host last asked for, so that a change of its settings is told from a change by a person. */
export const REGISTERED_ANNOTATION = 'everynode.dev/registered';

/** Labels and taints by a host's settings. */
export interface Registration {
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
}

/** The annotation's text; equal registrations have equal texts. */
export function registrationText({ labels, taints }: Registration): string {
  const sorted = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify({ labels: Object.fromEntries(sorted), taints });
}

/**
 * The Node with a changed registration, else undefined. A label or taint that the host asked for and no longer does goes, one that is
 * new or changed comes; what a person set or removed meanwhile stays as it is. Of a Node without the annotation, which
 * registered before there was one, the host's wish is noted and nothing changes.
 */
export function withRegistration(node: Node, wish: Registration): Node | undefined {
  const noted = node.metadata.annotations?.[REGISTERED_ANNOTATION];
  const text = registrationText(wish);
  if (noted === text) return undefined;
  const annotations = { ...node.metadata.annotations, [REGISTERED_ANNOTATION]: text };
  const before = noted === undefined ? wish : parse(noted);
  const labels = amendedLabels(node.metadata.labels ?? {}, before.labels, wish.labels);
  const taints = amendedTaints(node.spec?.taints ?? [], before.taints, wish.taints);
  const { taints: _, ...spec } = node.spec ?? {};
  return {
    ...node,
    metadata: { ...node.metadata, labels, annotations },
    spec: { ...spec, ...(taints.length > 0 ? { taints } : {}) },
  };
}

function amendedLabels(
  present: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
  wish: Readonly<Record<string, string>>,
): Record<string, string> {
  const labels = { ...present };
  for (const [key, value] of Object.entries(before)) {
    if (!(key in wish) && labels[key] === value) delete labels[key];
  }
  for (const [key, value] of Object.entries(wish)) if (before[key] !== value) labels[key] = value;
  return labels;
}

function amendedTaints(present: readonly Taint[], before: readonly Taint[], wish: readonly Taint[]): Taint[] {
  const isIn = (list: readonly Taint[], taint: Taint) => list.some((other) => isSame(other, taint));
  const kept = present.filter((taint) => !isIn(before, taint) || isIn(wish, taint));
  // Key and effect are a taint's identity: another value takes the old one's place.
  const added = wish.filter((taint) => !isIn(before, taint));
  const left = kept.filter(
    (taint) => !added.some(({ key, effect }) => key === taint.key && effect === taint.effect),
  );
  return [...left, ...added];
}

function isSame(one: Taint, other: Taint): boolean {
  return one.key === other.key && one.effect === other.effect && (one.value ?? '') === (other.value ?? '');
}

/** What somebody else wrote there counts as nothing asked for. */
function parse(text: string): Registration {
  try {
    const { labels = {}, taints = [] } = JSON.parse(text) as Partial<Registration>;
    return { labels: { ...labels }, taints: Array.isArray(taints) ? taints : [] };
  } catch {
    return { labels: {}, taints: [] };
  }
}
