/** Other versions of a kind, for rules with matchPolicy Equivalent (apiserver pkg/admission/plugin/webhook/generic). */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { VIEW_KINDS } from '../../kinds/index.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { RegistryDeps } from '../registry.js';
import { type CallsWebhook, convertByWebhook } from '../views/webhook-conversion.js';

type KindDeps = Pick<RegistryDeps, 'kinds' | 'customKinds'>;

const builtIn = new WeakMap<Kind, readonly Kind[]>();

/** Returns the other versions in which the objects of a kind are served. */
export function equivalentKinds({ kinds, customKinds }: KindDeps, kind: Kind): readonly Kind[] {
  if (kind.definition) return customKinds.versions(kind).filter(({ version }) => version !== kind.version);
  const known =
    builtIn.get(kind) ??
    [...kinds, ...VIEW_KINDS].filter((other) => other !== kind && storedPath(other) === storedPath(kind));
  builtIn.set(kind, known);
  return known;
}

function storedPath({ group, resource, view }: Kind): string {
  const stored = view?.storedAs ?? { group, resource };
  return `${stored.group}/${stored.resource}`;
}

/** True if a webhook converts between two versions, so that `inVersion` cannot. */
export function isConvertedByWebhook(from: Kind, to: Kind): boolean {
  return from !== to && from.view?.conversion !== undefined;
}

/** Returns the object in another version. A Scale or an Eviction is the same in all versions of its owner. */
export function inVersion<T extends KubeObject>(object: T, from: Kind, to: Kind): T {
  if (from === to || object.apiVersion !== apiVersionOf(from)) return object;
  // Like upstream, a conversion of a custom resource without a webhook changes nothing but the version.
  if (from.definition) return { ...object, apiVersion: apiVersionOf(to) };
  const stored = from.view ? from.view.toStored(object) : structuredClone(object);
  return (to.view ? to.view.fromStored(structuredClone(stored)) : stored) as T;
}

/** Like `inVersion`, also if a webhook converts. Throws a 500 if it fails. */
export async function inVersionByWebhook<T extends KubeObject>(
  webhooks: CallsWebhook,
  object: T,
  from: Kind,
  to: Kind,
): Promise<T> {
  const conversion = from.view?.conversion;
  if (!conversion || from === to || object.apiVersion !== apiVersionOf(from))
    return inVersion(object, from, to);
  const [converted] = await convertByWebhook(webhooks, conversion, [object], apiVersionOf(to));
  return (converted ?? object) as T;
}
