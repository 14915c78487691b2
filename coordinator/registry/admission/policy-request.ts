/** The variables of a request in expressions, and the `request` of an AdmissionReview (admission.k8s.io/v1). */
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { CelValue } from '../../cel/language/cel-value.js';
import type { Scope } from '../../cel/language/evaluation.js';
import {
  type AskAccess,
  authorizerValue,
  type PolicyUser,
  requestResourceValue,
} from '../../cel/policies/policy-environment.js';
import { jsonValue, schemaValue } from '../../cel/schemas/schema-value.js';
import type { StructuralSchema } from '../../cel/schemas/structural-schema.js';
import type { Kind } from '../../kinds/kind.js';
import type { WriteOptions } from '../registry-options.js';
import type { AdmissionRequest } from './admission-matching.js';

/** The user of the coordinator's own writes. */
const OWN_USER: PolicyUser = {
  username: 'system:kube-controller-manager',
  groups: ['system:authenticated'],
};

const TEXT: StructuralSchema = { type: 'string' };
const TIME: StructuralSchema = { type: 'string', format: 'date-time' };
const TEXT_MAP: StructuralSchema = { type: 'object', additionalProperties: TEXT };
const WHOLE: StructuralSchema = { type: 'integer' };

/** The fields of `namespaceObject`. */
const NAMESPACE_SCHEMA: StructuralSchema = {
  type: 'object',
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: TEXT,
        generateName: TEXT,
        namespace: TEXT,
        labels: TEXT_MAP,
        annotations: TEXT_MAP,
        creationTimestamp: TIME,
        deletionGracePeriodSeconds: WHOLE,
        deletionTimestamp: TIME,
        generation: WHOLE,
        resourceVersion: TEXT,
        finalizers: { type: 'array', items: TEXT },
      },
    },
    spec: { type: 'object', properties: { finalizers: { type: 'array', items: TEXT } } },
    status: { type: 'object', properties: { phase: TEXT } },
  },
};

/** Subresources that are written as objects of another kind. */
const SUBRESOURCE_KINDS: Readonly<Record<string, Pick<Kind, 'group' | 'version' | 'kind'>>> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
};

interface ScopeOptions extends Pick<WriteOptions, 'user' | 'groups' | 'dryRun'> {
  ask: AskAccess;
  /** Null: the policy has no parameters. */
  param: KubeObject | null;
}

/** The document that webhooks receive, and that `request` shows. */
export function requestDocument(
  { kind, sentAs, operation, subresource, namespace, name }: AdmissionRequest,
  options: Pick<WriteOptions, 'user' | 'groups' | 'dryRun'>,
): Record<string, unknown> {
  const namesOf = ({ group, version, kind: own, resource }: Kind) => ({
    kind: SUBRESOURCE_KINDS[subresource] ?? { group, version, kind: own },
    resource: { group, version, resource },
  });
  const [matched, sent] = [namesOf(kind), namesOf(sentAs)];
  const { username, groups } = userOf(options);
  return {
    ...matched,
    ...(subresource ? { subResource: subresource, requestSubResource: subresource } : {}),
    requestKind: sent.kind,
    requestResource: sent.resource,
    name,
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: { username, groups: [...groups] },
    dryRun: options.dryRun ?? false,
  };
}

function userOf({ user, groups }: Pick<WriteOptions, 'user' | 'groups'>): PolicyUser {
  return user === undefined ? OWN_USER : { username: user, groups: groups ?? [] };
}

export function requestScope(request: AdmissionRequest, options: ScopeOptions): Scope {
  const convert = requestValues(request, options);
  const known = new Map<string, CelValue | undefined>();
  return (variable) => {
    // Convert each variable once: an expression can read `object` for each element of a list.
    if (!known.has(variable)) known.set(variable, convert(variable));
    return known.get(variable);
  };
}

function requestValues(request: AdmissionRequest, options: ScopeOptions): Scope {
  const { sentAs: kind, subresource, namespace, name } = request;
  const user = userOf(options);
  const own = { verb: '', group: kind.group, resource: kind.resource, subresource, namespace, name };
  return (variable) => {
    switch (variable) {
      case 'object':
        return jsonValue(request.object);
      case 'oldObject':
        return jsonValue(request.oldObject);
      case 'params':
        return jsonValue(options.param);
      case 'request':
        return jsonValue(requestDocument(request, options));
      case 'namespaceObject':
        return schemaValue(request.namespaceObject, NAMESPACE_SCHEMA);
      case 'authorizer':
        return authorizerValue(user, options.ask);
      case 'authorizer.requestResource':
        return requestResourceValue(user, options.ask, own);
      default:
        return undefined;
    }
  };
}
