/** A DaemonSet's template as a ControllerRevision (pkg/controller/daemon/update.go getPatch, snapshot). */

import {
  type ControllerRevision,
  type DaemonSet,
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_ANNOTATION,
} from '../../../shared/kube/daemonsets/daemonset-types.js';
import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import type { PodTemplateSpec } from '../../../shared/kube/pods/pod-types.js';
import { daemonSetOwner } from './daemon-pod.js';

/** Booleans that Go omits when false, because their type has no "unset". */
const PLAIN_BOOLEANS = new Set([
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
]);
/** Numbers that Go omits when 0, for the same reason. */
const PLAIN_NUMBERS = new Set([
  'hostPort',
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
]);
/** Strings that are pointers in Go, so that Go writes them even when empty. */
const OPTIONAL_STRINGS = new Set(['type']);
/** Maps (as opposed to structures) are omitted when empty. */
const QUANTITY_MAPS = new Set(['limits', 'requests', 'overhead']);
const MAPS = new Set(['labels', 'annotations', 'nodeSelector', 'matchLabels', ...QUANTITY_MAPS]);
/** Fields that hold one quantity. */
const QUANTITIES = new Set(['sizeLimit', 'divisor']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true if Go's encoding of the typed object omits this field. */
function isLeftOut(key: string, value: unknown, inMap: boolean): boolean {
  if (value === undefined || value === null) return true;
  if (inMap) return false;
  if (value === '') return !OPTIONAL_STRINGS.has(key);
  if (value === false) return PLAIN_BOOLEANS.has(key);
  if (value === 0) return PLAIN_NUMBERS.has(key);
  if (Array.isArray(value)) return value.length === 0;
  return MAPS.has(key) && isObject(value) && Object.keys(value).length === 0;
}

/** Returns a field of a structure, or an entry of the map `map`, as Go writes it. */
function fieldInGoShape(key: string, value: unknown, map: string): unknown {
  const isText = typeof value === 'string' || typeof value === 'number';
  if (isText && (QUANTITY_MAPS.has(map) || QUANTITIES.has(key))) return canonicalQuantity(value);
  const whole = key === 'resourceFieldRef' && isObject(value) ? { divisor: '0', ...value } : value;
  return inGoShape(whole, MAPS.has(key) ? key : '');
}

/** Sorts keys and writes the object as Go does, because kubectl compares the bytes. */
function inGoShape(value: unknown, map = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => inGoShape(item));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key, field]) => !isLeftOut(key, field, map !== ''));
  kept.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept.map(([key, field]) => [key, fieldInGoShape(key, field, map)]));
}

function withResources(containers: PodTemplateSpec['spec']['containers'] | undefined) {
  return containers?.map((container) => ({ ...container, resources: container.resources ?? {} }));
}

/** Returns the strategic merge patch that would restore this template: the `data` of its revision. */
export function revisionData(template: PodTemplateSpec): unknown {
  const { creationTimestamp: _never, ...metadata } = template.metadata ?? {};
  const spec = {
    ...template.spec,
    containers: withResources(template.spec.containers),
    initContainers: withResources(template.spec.initContainers),
    securityContext: template.spec.securityContext ?? {},
  };
  return inGoShape({ spec: { template: { ...template, metadata, spec, $patch: 'replace' } } });
}

/** Digits 0–9 in upstream's names: no vowels and no easily confused letters (rand.SafeEncodeString). */
const SAFE_DIGITS = '456789bcdf';
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

function fnv1a(bytes: Iterable<number>): number {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}

/**
 * Returns the hash that names a template among its DaemonSet's revisions: 1 to 10 characters, deterministic. Upstream
 * hashes a dump that only Go can make, so the hash has upstream's alphabet and length but another value.
 */
export function revisionHash(template: PodTemplateSpec, collisionCount: number | undefined): string {
  const dump = new TextEncoder().encode(JSON.stringify(revisionData(template)));
  const count = collisionCount ?? 0;
  const suffix = collisionCount === undefined ? [] : [0, 8, 16, 24].map((shift) => (count >>> shift) & 0xff);
  const digits = String(fnv1a([...dump, ...suffix]));
  return digits.replace(/[0-9]/g, (digit) => SAFE_DIGITS[Number(digit)] ?? '');
}

/** Cached, because every reconcile asks for them. A changed template is another object. */
const dataTexts = new WeakMap<PodTemplateSpec, string>();

function dataText(template: PodTemplateSpec): string {
  const known = dataTexts.get(template);
  if (known !== undefined) return known;
  const text = JSON.stringify(revisionData(template));
  dataTexts.set(template, text);
  return text;
}

/** Returns the revisions that hold exactly this template. The template must not be changed afterwards. */
export function revisionsWithTemplate(
  revisions: readonly ControllerRevision[],
  template: PodTemplateSpec,
): ControllerRevision[] {
  const data = dataText(template);
  return revisions.filter((revision) => JSON.stringify(revision.data) === data);
}

/** Returns the template of a revision, or undefined if its data has another shape. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const { spec } = (data ?? {}) as { spec?: { template?: PodTemplateSpec & { $patch?: string } } };
  if (!spec?.template?.spec) return undefined;
  const { $patch: _, ...template } = spec.template;
  return template;
}

/**
 * Returns the DaemonSet with this template. The template generation is removed, because it belongs to the current
 * template.
 */
export function withTemplate(daemonSet: DaemonSet, template: PodTemplateSpec): DaemonSet {
  const { [TEMPLATE_GENERATION_ANNOTATION]: _, ...annotations } = daemonSet.metadata.annotations ?? {};
  return {
    ...daemonSet,
    metadata: { ...daemonSet.metadata, annotations },
    spec: { ...daemonSet.spec, template },
  };
}

/** Returns a revision's hash label, or its name if it has none. */
export function revisionHashOf(revision: ControllerRevision): string {
  return revision.metadata.labels?.[REVISION_HASH_LABEL] ?? revision.metadata.name;
}

/** Returns a revision of the current template with this number. */
export function newRevision(daemonSet: DaemonSet, number: number): ControllerRevision {
  const { metadata, spec, status } = daemonSet;
  const hash = revisionHash(spec.template, status?.collisionCount);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
      labels: { ...spec.template.metadata?.labels, [REVISION_HASH_LABEL]: hash },
      ...(metadata.annotations ? { annotations: { ...metadata.annotations } } : {}),
      ownerReferences: [daemonSetOwner(daemonSet)],
    },
    data: revisionData(spec.template),
    revision: number,
  };
}
