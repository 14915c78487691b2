/** Parameters of admission policies (apiserver pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams). */
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../../shared/kube/admission/admission-policy-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { compileLabelSelector } from '../../../shared/kube/objects/selectors.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import { decodeShared } from '../encoding/decoded-objects.js';
import type { RegistryDeps } from '../registry.js';
import { keyOf, prefixOf } from '../storage-keys.js';

/** The parameters of a binding: null for a policy without them. `of` names the wrong object. */
export type ParamSource =
  | { found: readonly (KubeObject | null)[] }
  | { failed: string; of: 'policy' | 'binding' };

const NONE: ParamSource = { found: [null] };

export async function loadParams(
  deps: Pick<RegistryDeps, 'store' | 'kinds'>,
  { spec }: ValidatingAdmissionPolicy,
  binding: ValidatingAdmissionPolicyBinding,
  namespace: string,
): Promise<ParamSource> {
  const { paramKind } = spec ?? {};
  const ref = binding.spec?.paramRef;
  if (!paramKind || !ref) return NONE;
  const kind = deps.kinds.find(
    (each) => apiVersionOf(each) === paramKind.apiVersion && each.kind === paramKind.kind,
  );
  if (!kind) {
    const shown = `${paramKind.apiVersion}, Kind=${paramKind.kind}`;
    return { failed: `failed to find resource referenced by paramKind: '${shown}'`, of: 'policy' };
  }
  const place = paramNamespace(kind, ref.namespace, namespace);
  if (typeof place === 'object') return place;
  const found = ref.name
    ? await named(deps, kind, { name: ref.name, ...(place ? { namespace: place } : {}) })
    : await selected(deps, kind, place, ref.selector ?? {});
  if (found.length > 0 || ref.parameterNotFoundAction !== 'Deny') return { found };
  const failed = 'no params found for policy binding with `Deny` parameterNotFoundAction';
  return { failed, of: 'binding' };
}

/** Returns the namespace of the parameters: "" for a cluster-scoped kind. */
function paramNamespace(kind: Kind, own: string | undefined, requested: string): string | ParamSource {
  if (!kind.namespaced) {
    if (!own) return '';
    return {
      failed: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
      of: 'binding',
    };
  }
  if (own || requested) return own || requested;
  return {
    failed: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    of: 'binding',
  };
}

async function named(
  { store }: Pick<RegistryDeps, 'store'>,
  kind: Kind,
  ref: { name: string; namespace?: string },
): Promise<KubeObject[]> {
  const stored = await store.get(keyOf(kind, ref));
  return stored ? [decodeShared(stored.value, stored.revision)] : [];
}

async function selected(
  { store }: Pick<RegistryDeps, 'store'>,
  kind: Kind,
  namespace: string,
  selector: Parameters<typeof compileLabelSelector>[0],
): Promise<KubeObject[]> {
  const { items } = await store.list(prefixOf(kind, namespace));
  const matcher = compileLabelSelector(selector);
  const objects = items.map(({ value, revision }) => decodeShared<KubeObject>(value, revision));
  return objects.filter(({ metadata }) => matcher.matches(metadata.labels));
}
