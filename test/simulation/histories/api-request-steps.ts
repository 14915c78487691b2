/** The API requests of one client, with the results that the observer needs. */
import { nodeKind } from '../../../coordinator/kinds/index.js';
import type { Kind } from '../../../coordinator/kinds/kind.js';
import type { Registry } from '../../../coordinator/registry/registry.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import type { AcknowledgedWrite } from '../rules/invariants.js';
import type { StoredState } from '../rules/stored-truth.js';

const NAMESPACE = 'default';

/** The request of a step. Its result is recorded when the coordinator acknowledges it. */
export type Request = (registry: Registry) => Promise<AcknowledgedWrite[]>;

/** Deletions are recorded before the request, because a deletion can succeed without a response. */
export interface UserDeps {
  stored: StoredState;
  /** The time of the coordinator's clock, in ms since the epoch. */
  now: () => number;
  deleting: (object: KubeObject, isForced: boolean) => void;
}

export function refOf(name: string): ObjectRef {
  return { namespace: NAMESPACE, name };
}

export async function created<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  object: object,
): Promise<AcknowledgedWrite[]> {
  const record = await registry.create(kind, NAMESPACE, object, { fieldManager: 'user' });
  return [acknowledged(record.object().metadata, record.revision)];
}

export async function changed<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  ref: ObjectRef,
  change: (object: T) => void,
  as: { user?: string } = {},
): Promise<AcknowledgedWrite[]> {
  const edit = (object: T): undefined => change(object) as undefined;
  const record = await registry.modify(kind, ref, edit, { fieldManager: 'user', ...as });
  return [acknowledged(record.object().metadata, record.revision)];
}

/** Cordons or uncordons a node. */
export function cordoned(
  registry: Registry,
  name: string,
  isCordoned: boolean,
): Promise<AcknowledgedWrite[]> {
  return changed(registry, nodeKind, { name }, (node) => {
    node.spec = { ...node.spec, unschedulable: isCordoned };
  });
}

export async function deleted<T extends KubeObject>(
  registry: Registry,
  kind: Kind<T>,
  ref: ObjectRef,
  { deleting }: UserDeps,
  options: { gracePeriodSeconds?: number; propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' },
): Promise<AcknowledgedWrite[]> {
  const present = (await registry.get(kind, ref)).object();
  const { uid = '' } = present.metadata;
  deleting(present, options.gracePeriodSeconds === 0);
  const result = await registry.delete(kind, ref, { ...options, preconditions: { uid } });
  const { metadata } = result.object;
  return [{ ...acknowledged(metadata, Number(metadata.resourceVersion)), isDeletion: true }];
}

export function acknowledged(
  { uid = '', name }: KubeObject['metadata'],
  revision: number,
): AcknowledgedWrite {
  return { uid, name, revision, isDeletion: false };
}
