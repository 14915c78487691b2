/** Webhooks around an update: the mutating ones see the defaulted object, the validating ones what will be stored. */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Kind } from '../../kinds/kind.js';
import { copyJson } from '../encoding/json-value.js';
import type { RegistryDeps } from '../registry.js';
import type { ReviewedForm, WriteOptions } from '../registry-options.js';
import { matchingWebhooks, mutate, validateByWebhooks } from './webhook-admission.js';
import { type Replacement, readObject } from './write-admission.js';

interface Admission<T extends KubeObject> {
  options: WriteOptions;
  /** Prepares, validates and tracks the new object. */
  admit: (replacement: Replacement<T>) => T;
}

/** Returns the admitted object: at once if no webhook can match. */
export function admitThroughWebhooks<T extends KubeObject>(
  deps: RegistryDeps,
  kind: Kind<T>,
  replacement: Replacement<T>,
  { options, admit }: Admission<T>,
): T | Promise<T> {
  const { ref, current } = replacement;
  const matches = matchingWebhooks(deps, {
    kind: kind as Kind,
    operation: 'UPDATE',
    subresource: options.subresource ?? '',
    namespace: ref.namespace ?? '',
  });
  if (!matches) return admit(replacement);
  const { reviewedAs } = options;
  const runOnForm = async (form: ReviewedForm): Promise<T> => {
    const { name } = ref;
    const oldObject = form.show(current);
    const body = readObject(kind, replacement.body, options, current);
    const shown = form.show(body);
    const changed = await mutate(deps, matches, { name, object: shown, oldObject }, options);
    if (changed !== shown) form.accept(body, changed);
    const next = admit({ ...replacement, body });
    await validateByWebhooks(deps, matches, { name, object: form.show(next), oldObject }, options);
    return next;
  };
  const run = async (): Promise<T> => {
    const object = readObject(kind, replacement.body, options, current);
    const { name } = ref;
    const changed = await mutate(
      deps,
      matches,
      { name, object: copyJson(object), oldObject: current },
      options,
    );
    const next = admit({ ...replacement, body: changed });
    await validateByWebhooks(deps, matches, { name, object: next, oldObject: current }, options);
    return next;
  };
  return reviewedAs ? runOnForm(reviewedAs) : run();
}
