/** The PodSecurity admission plugin: labels of a namespace limit the privileges of its Pods. */

import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { Namespace } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import type { Kind } from '../../kinds/kind.js';
import type { SecuredPod } from '../../kinds/pods/security-standards/security-check.js';
import { levelFor, levelViolation } from '../../kinds/pods/security-standards/security-levels.js';
import type { Store } from '../../store/store.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import type { WriteOptions } from '../registry-options.js';
import { namespaceKey } from '../storage-keys.js';
import { assumedObject } from './namespace-lifecycle.js';

type Review = NonNullable<WriteOptions['review']>;

/** Returns the Pod or the Pod template that an object of this kind contains. */
function securedPart({ group, resource }: Kind, object: KubeObject): SecuredPod | undefined {
  if (group === '' && resource === 'pods') return object as Pod;
  if (group === 'apps' && resource === 'daemonsets') return (object as DaemonSet).spec.template;
  return undefined;
}

/** True for kinds that contain a Pod or a Pod template. */
function isSecured({ group, resource }: Kind): boolean {
  return (group === '' && resource === 'pods') || (group === 'apps' && resource === 'daemonsets');
}

/**
 * Adds the Pod Security check to `options`. A new Pod above the enforced level of its namespace, or one that
 * an ephemeral container raises above it, is refused (403). A Pod or a template above the `warn` level causes a warning.
 */
export async function withPodSecurity<T extends WriteOptions>(
  store: Store,
  kind: Kind,
  namespace: string | undefined,
  options: T,
): Promise<T> {
  if (!isSecured(kind) || !namespace) return options;
  const { labels } = (await findNamespace(store, namespace, options))?.metadata ?? {};
  if (!labels) return options;
  const check = levelReview(labels, options.warn);
  const { review } = options;
  return {
    ...options,
    review: (reviewed, next, current) => {
      review?.(reviewed, next, current);
      check(reviewed, next, current);
    },
  };
}

async function findNamespace(
  store: Store,
  name: string,
  { assumed }: WriteOptions,
): Promise<Namespace | undefined> {
  const assumedNamespace = assumedObject<Namespace>(assumed, 'Namespace', { name });
  if (assumedNamespace) return assumedNamespace;
  const stored = await store.get(namespaceKey(name));
  return stored && decodeShared<Namespace>(stored.value, stored.revision);
}

function levelReview(labels: Record<string, string>, warn: ((text: string) => void) | undefined): Review {
  return (kind, next, current) => {
    const part = securedPart(kind, next);
    const isPod = kind.resource === 'pods';
    if (!part || (isPod && current && !addsContainer(next as Pod, current as Pod))) return;
    const refused = isPod && levelViolation(part, levelFor(labels, 'enforce'));
    if (refused) throw violates(next, refused);
    const warned = warn && levelViolation(part, levelFor(labels, 'warn'));
    if (warned) warn?.(`would ${warned.replace(/^violates/, 'violate')}`);
  };
}

/** Of the fields of a Pod that decide its level, an update can only add ephemeral containers. */
function addsContainer({ spec: next }: Pod, { spec: current }: Pod): boolean {
  return (next.ephemeralContainers?.length ?? 0) !== (current.ephemeralContainers?.length ?? 0);
}

function violates({ metadata }: KubeObject, text: string): ApiError {
  const name = metadata.name || metadata.generateName || '';
  return new ApiError('Forbidden', `pods "${name}" is forbidden: ${text}`, { name, kind: 'pods' });
}
