/** Variables and functions of admission policies (k8s.io/apiserver pkg/admission/plugin/cel/compile.go). */
import { CelError } from '../language/cel-error.js';
import { type CelType, DYN, parseType, STRING } from '../language/cel-type.js';
import type { CelOpaque, CelValue } from '../language/cel-value.js';
import type { CheckContext } from '../language/check-expression.js';
import { functionsOf, type Overload, overload } from '../language/overload.js';
import { KUBERNETES_FUNCTIONS } from '../libraries/kubernetes-functions.js';

/** An authorization check has a fixed cost: an expression has room for two. */
const CHECK_COST = 350_000;

/** What an expression asks about. */
interface AccessQuestion {
  verb: string;
  path?: string;
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
}

/** Answers whether a user may do something. */
export type AskAccess = (user: PolicyUser, question: AccessQuestion) => { allowed: boolean; reason: string };

export interface PolicyUser {
  username: string;
  groups: readonly string[];
}

const NOTHING: AccessQuestion = {
  verb: '',
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
};

/** `authorizer`, or a check that it builds. */
class AccessCheck implements CelOpaque {
  readonly costSize = 1;
  constructor(
    readonly opaque: string,
    readonly user: PolicyUser,
    readonly ask: AskAccess,
    readonly question: AccessQuestion = NOTHING,
  ) {}

  get equalityKey(): string {
    return JSON.stringify([this.user, this.question]);
  }

  /** Returns the next step of the check. */
  with(type: string, change: Partial<AccessQuestion>): AccessCheck {
    return new AccessCheck(type, this.user, this.ask, { ...this.question, ...change });
  }
}

class Decision implements CelOpaque {
  readonly opaque = 'kubernetes.authorization.Decision';
  constructor(
    readonly allowed: boolean,
    readonly reason: string,
  ) {}

  get equalityKey(): boolean {
    return this.allowed;
  }
}

const RESOURCE_CHECK = 'kubernetes.authorization.ResourceCheck';
const PATH_CHECK = 'kubernetes.authorization.PathCheck';
const AUTHORIZER = 'kubernetes.authorization.Authorizer';

/** Returns the value of `authorizer`. */
export function authorizerValue(user: PolicyUser, ask: AskAccess): CelValue {
  return new AccessCheck(AUTHORIZER, user, ask);
}

/** Returns the value of `authorizer.requestResource`. */
export function requestResourceValue(user: PolicyUser, ask: AskAccess, question: AccessQuestion): CelValue {
  return new AccessCheck(RESOURCE_CHECK, user, ask, question);
}

function step(signature: string, type: string, change: (text: string) => Partial<AccessQuestion>): Overload {
  return overload(signature, ([check, text]) => (check as AccessCheck).with(type, change(text as string)));
}

function decide(check: AccessCheck, verb: string): CelValue {
  const { allowed, reason } = check.ask(check.user, { ...check.question, verb });
  return new Decision(allowed, reason);
}

const CHECK: Overload['cost'] = {
  estimate: () => ({ cost: { min: CHECK_COST, max: CHECK_COST } }),
  actual: () => CHECK_COST,
};

function serviceAccount(check: AccessCheck, namespace: string, name: string): CelValue {
  if (namespace === '' || name === '') throw new CelError('serviceAccount requires a namespace and a name');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const user = { username: `system:serviceaccount:${namespace}:${name}`, groups };
  return new AccessCheck(AUTHORIZER, user, check.ask);
}

const AUTHORIZATION: readonly Overload[] = [
  step('Authorizer.path(string): PathCheck', PATH_CHECK, (path) => ({ path })),
  step('Authorizer.group(string): GroupCheck', 'kubernetes.authorization.GroupCheck', (group) => ({ group })),
  overload('Authorizer.serviceAccount(string, string): Authorizer', ([check, namespace, name]) =>
    serviceAccount(check as AccessCheck, namespace as string, name as string),
  ),
  step('GroupCheck.resource(string): ResourceCheck', RESOURCE_CHECK, (resource) => ({ resource })),
  step('ResourceCheck.subresource(string): ResourceCheck', RESOURCE_CHECK, (subresource) => ({
    subresource,
  })),
  step('ResourceCheck.namespace(string): ResourceCheck', RESOURCE_CHECK, (namespace) => ({ namespace })),
  step('ResourceCheck.name(string): ResourceCheck', RESOURCE_CHECK, (name) => ({ name })),
  // RBAC has no rules for selectors: they do not change the answer.
  step('ResourceCheck.fieldSelector(string): ResourceCheck', RESOURCE_CHECK, () => ({})),
  step('ResourceCheck.labelSelector(string): ResourceCheck', RESOURCE_CHECK, () => ({})),
  overload(
    'ResourceCheck.check(string): Decision',
    ([check, verb]) => decide(check as AccessCheck, verb as string),
    CHECK,
  ),
  overload(
    'PathCheck.check(string): Decision',
    ([check, verb]) => decide(check as AccessCheck, verb as string),
    CHECK,
  ),
  overload('Decision.allowed(): bool', ([decision]) => (decision as Decision).allowed),
  overload('Decision.reason(): string', ([decision]) => (decision as Decision).reason),
  overload('Decision.errored(): bool', () => false),
  overload('Decision.error(): string', () => ''),
];

const POLICY_FUNCTIONS = functionsOf([...KUBERNETES_FUNCTIONS.values()].flat(), AUTHORIZATION);

function object(name: string, fields: Record<string, CelType>): CelType {
  return { kind: 'object', name, fields: new Map(Object.entries(fields)) };
}

const GVK = object('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const GVR = object('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING });

/** The type of `request` (BuildRequestType). */
const REQUEST = object('kubernetes.AdmissionRequest', {
  kind: GVK,
  resource: GVR,
  subResource: STRING,
  requestKind: GVK,
  requestResource: GVR,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: object('kubernetes.UserInfo', {
    username: STRING,
    uid: STRING,
    groups: parseType('list<string>'),
    extra: parseType('map<string, list<string>>'),
  }),
  dryRun: { kind: 'bool' },
  options: DYN,
});

const TIME: CelType = { kind: 'timestamp' };

/** The type of `namespaceObject` (BuildNamespaceType): some fields are hidden. */
const NAMESPACE = object('kubernetes.Namespace', {
  metadata: object('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: parseType('map<string, string>'),
    annotations: parseType('map<string, string>'),
    UID: STRING,
    creationTimestamp: TIME,
    deletionGracePeriodSeconds: { kind: 'int' },
    deletionTimestamp: TIME,
    generation: { kind: 'int' },
    resourceVersion: STRING,
    finalizers: parseType('list<string>'),
  }),
  spec: object('kubernetes.NamespaceSpec', { finalizers: parseType('list<string>') }),
  status: object('kubernetes.NamespaceStatus', { phase: STRING }),
});

/** Which variables an expression has. */
export interface PolicyScope {
  hasParams: boolean;
  hasAuthorizer: boolean;
  /** The types of `variables`. Absent: the policy has none. */
  variables?: ReadonlyMap<string, CelType>;
}

export function policyContext({ hasParams, hasAuthorizer, variables }: PolicyScope): CheckContext {
  const types = new Map<string, CelType>([
    ['object', DYN],
    ['oldObject', DYN],
    ['request', REQUEST],
    ['namespaceObject', NAMESPACE],
  ]);
  if (hasParams) types.set('params', DYN);
  if (hasAuthorizer) {
    types.set('authorizer', { kind: 'opaque', name: AUTHORIZER });
    types.set('authorizer.requestResource', { kind: 'opaque', name: RESOURCE_CHECK });
  }
  if (variables) types.set('variables', { kind: 'object', name: 'kubernetes.variables', fields: variables });
  return { variables: types, functions: POLICY_FUNCTIONS };
}
