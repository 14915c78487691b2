/** Compiled label and field selectors of a request. They decode an object only if they need its fields. */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import {
  type FieldRequirement,
  type Matcher,
  parseFieldSelector,
  parseLabelSelector,
  SelectorSyntaxError,
} from '../../../shared/kube/objects/selectors.js';
import type { Kind } from '../../kinds/kind.js';
import { labelsOf } from '../encoding/object-record.js';
import type { ObjectRecord } from '../registry.js';
import type { Selection } from '../registry-options.js';
import { refOf } from '../storage-keys.js';

export interface CompiledSelection<T extends KubeObject> {
  /** True if the selectors match all objects of the kind and namespace. */
  readonly everything: boolean;
  /** The only object that can match, if the selectors name one, like those of `kubectl get NAME -w`. */
  readonly only: ObjectRef | undefined;
  matches(key: string, record: ObjectRecord<T>): boolean;
}

type FieldTest<T extends KubeObject> = (key: string, record: ObjectRecord<T>) => boolean;

function reading<R>(parse: (text: string) => R, text: string): R {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorSyntaxError) throw badRequest(error.message);
    throw error;
  }
}

/** The key contains name and namespace, so these two fields need no decoding. */
function fieldReader<T extends KubeObject>(
  kind: Kind<T>,
  field: string,
): (key: string, record: ObjectRecord<T>) => string {
  if (field === 'metadata.name') return (key) => refOf(kind, key).name;
  if (field === 'metadata.namespace') return (key) => refOf(kind, key).namespace ?? '';
  const read = Object.hasOwn(kind.fields, field) ? kind.fields[field] : undefined;
  if (!read) throw badRequest(`field label not supported: ${field}`);
  return (_key, record) => read(record.object());
}

function fieldTest<T extends KubeObject>(kind: Kind<T>, requirement: FieldRequirement): FieldTest<T> {
  const read = fieldReader(kind, requirement.field);
  return (key, record) => (read(key, record) === requirement.value) !== requirement.negated;
}

function onlyRef(
  kind: Kind,
  namespace: string | undefined,
  requirements: readonly FieldRequirement[],
): ObjectRef | undefined {
  const named = requirements.find(({ field, negated }) => field === 'metadata.name' && !negated);
  if (!named) return undefined;
  if (!kind.namespaced) return { name: named.value };
  return namespace === undefined ? undefined : { namespace, name: named.value };
}

/** Throws a 400 for a selector that cannot be parsed, and for a field that the kind does not support. */
export function compileSelection<T extends KubeObject>(
  kind: Kind<T>,
  selection: Selection,
): CompiledSelection<T> {
  const labels: Matcher = reading(parseLabelSelector, selection.labelSelector ?? '');
  const requirements = reading(parseFieldSelector, selection.fieldSelector ?? '');
  const tests = requirements.map((requirement) => fieldTest(kind, requirement));
  return {
    everything: labels.empty && tests.length === 0,
    only: onlyRef(kind, selection.namespace, requirements),
    matches: (key, record) =>
      tests.every((test) => test(key, record)) && (labels.empty || labels.matches(labelsOf(record))),
  };
}
