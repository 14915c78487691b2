/** Writes a Service's EndpointSlices. */
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectMeta } from '../../../shared/kube/objects/meta.js';
import { type EndpointSlice, TRIGGER_TIME_ANNOTATION } from '../../../shared/kube/services/endpoint-types.js';
import type { SliceChanges, SliceContent } from '../../decisions/services/slice-changes.js';
import { endpointSliceKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { preconditionsOf } from '../daemonsets/controller-ref.js';
import { isNamespaceEnding } from '../daemonsets/create-gate.js';

/** Writes at a time. They share a commit of the store, and other work runs in between. */
const AT_ONCE = 4;

interface SliceWriterDeps {
  registry: Registry;
  /** Called between groups of writes. */
  yieldIfUsedUp?: () => Promise<void> | undefined;
  /** Called after each write, with the deleted slice after a deletion. */
  onWrite: (slice: EndpointSlice, isRemoved: boolean) => void;
}

/** `owner`: the Service or Endpoints that new slices belong to. `triggerTime`: for the annotation, which else is removed. */
export async function writeSlices(
  deps: SliceWriterDeps,
  owner: KubeObject | undefined,
  changes: SliceChanges,
  triggerTime: string | undefined,
): Promise<void> {
  const writes = [
    ...(owner ? changes.create.map((content) => () => create(deps, owner, content, triggerTime)) : []),
    ...changes.update.map(
      ({ slice, content }) =>
        () =>
          unlessGone(() => update(deps, slice, content, triggerTime)),
    ),
    ...changes.remove.map((slice) => () => unlessGone(() => remove(deps, slice))),
  ];
  for (let at = 0; at < writes.length; at += AT_ONCE) {
    await Promise.all(writes.slice(at, at + AT_ONCE).map((write) => write()));
    await deps.yieldIfUsedUp?.();
  }
}

async function create(
  { registry, onWrite }: SliceWriterDeps,
  { apiVersion, kind, metadata: { name, namespace, uid = '' } }: KubeObject,
  { labels, ...content }: SliceContent,
  triggerTime: string | undefined,
): Promise<void> {
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  const metadata = { generateName: `${name}-`, labels, ownerReferences: [owner] } as Partial<ObjectMeta>;
  setTriggerTime(metadata, triggerTime);
  try {
    const record = await registry.create(endpointSliceKind, namespace, { metadata, ...content });
    onWrite(record.object(), false);
  } catch (error) {
    // Nothing can be created in this namespace any more, so that a retry would fail as well.
    if (!isNamespaceEnding(error)) throw error;
  }
}

async function update(
  { registry, onWrite }: SliceWriterDeps,
  slice: EndpointSlice,
  { labels, endpoints, ports }: SliceContent,
  triggerTime: string | undefined,
): Promise<void> {
  const change = (stored: EndpointSlice): undefined => {
    stored.endpoints = [...endpoints];
    stored.ports = [...ports];
    stored.metadata.labels = { ...labels };
    setTriggerTime(stored.metadata, triggerTime);
    return undefined;
  };
  const preconditions = preconditionsOf(slice);
  const record = await registry.modify(endpointSliceKind, slice.metadata, change, { preconditions });
  onWrite(record.object(), false);
}

async function remove({ registry, onWrite }: SliceWriterDeps, slice: EndpointSlice): Promise<void> {
  const preconditions = preconditionsOf(slice);
  const result = await registry.delete(endpointSliceKind, slice.metadata, { preconditions });
  onWrite(result.object, true);
}

/** See upstream's addTriggerTimeAnnotation. Also used for Endpoints. */
export function setTriggerTime(metadata: Partial<ObjectMeta>, triggerTime: string | undefined): void {
  const { [TRIGGER_TIME_ANNOTATION]: _, ...others } = metadata.annotations ?? {};
  const annotations = {
    ...others,
    ...(triggerTime === undefined ? {} : { [TRIGGER_TIME_ANNOTATION]: triggerTime }),
  };
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
}
