/** Metadata and basic types of all Kubernetes objects, as in k8s.io/apimachinery meta/v1. */

/** RFC 3339 time in UTC with whole seconds, e.g. `2026-11-21T10:28:44Z`. */
export type Timestamp = string;

/** RFC 3339 time in UTC with microseconds, as in Lease and Event fields. */
export type MicroTime = string;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  /** True on at most one reference: the owner that manages the object. */
  controller?: boolean;
  /** A foreground deletion of the owner waits for this object. */
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: Timestamp;
  fieldsType?: string;
  fieldsV1?: unknown;
  subresource?: string;
}

export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  /** The store's revision as a decimal string. Clients must treat it as opaque. */
  resourceVersion?: string;
  /** Incremented on each change of `spec`. Absent on kinds without it. */
  generation?: number;
  creationTimestamp?: Timestamp | null;
  deletionTimestamp?: Timestamp;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any object of the API. Kinds add their own fields. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** The name of an object within its kind. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  namespace?: string;
  name: string;
}

/** Returns the owner that manages the object (`controller: true`), or undefined. */
export function controllerOf(meta: ObjectMeta): OwnerReference | undefined {
  return meta.ownerReferences?.find((reference) => reference.controller === true);
}

/** Formats `namespace/name`, or `name` for cluster-scoped objects, for logs and Events. */
export function refText(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

/** Formats milliseconds since the epoch as a `Timestamp` in whole seconds, like upstream's `metav1.Time`. */
export function toTimestamp(epochMs: number): Timestamp {
  const second = Math.floor(epochMs / 1000);
  if (second !== lastSecond.at)
    lastSecond = { at: second, text: `${new Date(epochMs).toISOString().slice(0, 19)}Z` };
  return lastSecond.text;
}

/** Cache of the last formatted second. Most timestamps are the current time, and sharing one string saves memory. */
let lastSecond = { at: Number.NaN, text: '' };

/** Formats milliseconds since the epoch as a `MicroTime`. */
export function toMicroTime(epochMs: number): MicroTime {
  return `${new Date(epochMs).toISOString().slice(0, 23)}000Z`;
}

/** API group of Everynode's own kinds, and the prefix of their annotations. */
export const FLEET_GROUP = 'fleet.everynode.dev';

/** A number, or a string such as `25%` or the name of a port (apimachinery util/intstr). */
export type IntOrString = number | string;

/** Formats a count with its noun: `1 node`, `3 nodes`. `many` is only needed for an irregular plural. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** RFC 3339 as Kubernetes clients decode it (Go's time.Parse). */
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns true if clients can decode the time. One invalid time makes them reject a whole list. */
export function isTimeText(text: string): boolean {
  const [, year, month, day, hour] = RFC3339.exec(text) ?? [];
  if (year === undefined || hour === '24' || Number.isNaN(Date.parse(text))) return false;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCDate() === Number(day);
}
