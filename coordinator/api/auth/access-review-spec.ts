/** Validates the `spec` of an access review. The authorizer compares strings and must not get other types. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { undecodableText } from '../../registry/admission/typed-body.js';
import { isJsonMap, type JsonMap } from '../../registry/encoding/json-value.js';

const RESOURCE_FIELDS = ['namespace', 'verb', 'group', 'resource', 'subresource', 'name'] as const;
const PATH_FIELDS = ['path', 'verb'] as const;

type Texts<Field extends string> = Partial<Record<Field, string>>;

/** The spec of a SubjectAccessReview. The other access reviews have a subset of its fields. */
export interface AccessSpec {
  resourceAttributes?: Texts<(typeof RESOURCE_FIELDS)[number]>;
  nonResourceAttributes?: Texts<(typeof PATH_FIELDS)[number]>;
  user?: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

/**
 * Parses the spec of a review of this kind. Like in Go, null counts as absent. Throws 400 for a field of another type.
 */
export function readAccessSpec(kind: string, spec: JsonMap): AccessSpec {
  const read = new SpecReader(kind);
  const { resourceAttributes: on, nonResourceAttributes: path } = spec;
  const extra = Object.entries(read.map(spec.extra, 'spec.extra'));
  return {
    ...read.texts(spec, ['user', 'uid'], 'spec'),
    groups: read.list(spec.groups, 'spec.groups'),
    ...(extra.length > 0
      ? {
          extra: Object.fromEntries(extra.map(([key, list]) => [key, read.list(list, `spec.extra[${key}]`)])),
        }
      : {}),
    ...(on ? { resourceAttributes: read.texts(on, RESOURCE_FIELDS, 'spec.resourceAttributes') } : {}),
    ...(path ? { nonResourceAttributes: read.texts(path, PATH_FIELDS, 'spec.nonResourceAttributes') } : {}),
  };
}

class SpecReader {
  constructor(private readonly kind: string) {}

  map(value: unknown, field: string): JsonMap {
    if (value === undefined || value === null) return {};
    if (isJsonMap(value)) return value;
    throw this.#wrong(field, 'a JSON object');
  }

  list(value: unknown, field: string): string[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw this.#wrong(field, 'a list of strings');
  }

  texts<Field extends string>(value: unknown, fields: readonly Field[], where: string): Texts<Field> {
    const found: Texts<Field> = {};
    const map = this.map(value, where);
    for (const field of fields) {
      const text = map[field] ?? undefined;
      if (typeof text === 'string') found[field] = text;
      else if (text !== undefined) throw this.#wrong(`${where}.${field}`, 'a string');
    }
    return found;
  }

  #wrong(field: string, type: string) {
    const expected = { kind: this.kind, apiVersion: 'authorization.k8s.io/v1' };
    return badRequest(undecodableText(expected, this.kind, `${field} must be ${type}`));
  }
}
