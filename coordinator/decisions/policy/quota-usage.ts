/** What an object counts for in a ResourceQuota (pkg/quota/v1/evaluator, plugin resourcequota of apiserver). */
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import {
  type Amounts,
  amounts,
  amountText,
  containerAmounts,
  podRequests,
  sumAmounts,
} from '../../../shared/kube/pods/pod-requests.js';
import { type Container, isPodTerminal, type Pod } from '../../../shared/kube/pods/pod-types.js';
import { qualityOfService } from '../../../shared/kube/pods/quality-of-service.js';
import type { ResourceQuota, ScopeRequirement } from '../../../shared/kube/policy/quota-types.js';
import type { Service } from '../../../shared/kube/services/service-types.js';

/** Names of a kind. */
export interface CountedKind {
  group: string;
  resource: string;
}

/** Core resources that are also counted under their plain name. Pods count there only until they have ended. */
const PLAIN_COUNTS: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
]);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];

const isPods = ({ group, resource }: CountedKind): boolean => group === '' && resource === 'pods';
const isServices = ({ group, resource }: CountedKind): boolean => group === '' && resource === 'services';

/** Returns for example `count/pods` or `count/daemonsets.apps`. */
function countName({ group, resource }: CountedKind): string {
  return group === '' ? `count/${resource}` : `count/${resource}.${group}`;
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

/** podComputeUsageHelper. */
function computeUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage: Record<string, number> = { pods: 1 };
  for (const name of COMPUTE) {
    const request = ownValue(requests, name);
    const limit = ownValue(limits, name);
    if (request !== undefined) Object.assign(usage, { [name]: request, [`requests.${name}`]: request });
    if (limit !== undefined) usage[`limits.${name}`] = limit;
  }
  for (const [name, amount] of Object.entries(requests)) {
    if (name.startsWith('hugepages-')) Object.assign(usage, { [name]: amount, [`requests.${name}`]: amount });
    else if (isExtended(name)) usage[`requests.${name}`] = amount;
  }
  return usage;
}

function podUsage(pod: Pod): Amounts {
  const counted = { 'count/pods': 1 };
  if (isPodTerminal(pod)) return counted;
  const limits = sumAmounts(containerAmounts(pod.spec, 'limits'), {});
  return { ...counted, ...computeUsage(podRequests(pod.spec), limits) };
}

/** serviceEvaluator.Usage. */
function serviceUsage({ spec }: Service): Amounts {
  const ports = spec?.ports?.length ?? 0;
  const isBalanced = spec?.type === 'LoadBalancer';
  const hasNodePorts =
    spec?.type === 'NodePort' || (isBalanced && spec?.allocateLoadBalancerNodePorts !== false);
  return {
    ...{ 'count/services': 1, services: 1 },
    'services.loadbalancers': isBalanced ? 1 : 0,
    'services.nodeports': hasNodePorts ? ports : 0,
  };
}

/** Returns everything that the object counts for. */
export function objectUsage(kind: CountedKind, object: KubeObject): Amounts {
  if (isPods(kind)) return podUsage(object as Pod);
  if (isServices(kind)) return serviceUsage(object as Service);
  const plain = kind.group === '' && PLAIN_COUNTS.has(kind.resource) ? { [kind.resource]: 1 } : {};
  return { [countName(kind)]: 1, ...plain };
}

function usesOtherNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const terms = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => term.podAffinityTerm),
  ]);
  return terms.some((term) => (term?.namespaces?.length ?? 0) > 0 || term?.namespaceSelector !== undefined);
}

/** podMatchesScopeFunc. */
function isInScope({ scopeName, operator, values = [] }: ScopeRequirement, pod: Pod): boolean {
  const { activeDeadlineSeconds, priorityClassName = '' } = pod.spec;
  switch (scopeName) {
    case 'Terminating':
      return activeDeadlineSeconds !== undefined;
    case 'NotTerminating':
      return activeDeadlineSeconds === undefined;
    case 'BestEffort':
      return qualityOfService(pod.spec) === 'BestEffort';
    case 'NotBestEffort':
      return qualityOfService(pod.spec) !== 'BestEffort';
    case 'CrossNamespacePodAffinity':
      return usesOtherNamespaces(pod);
    case 'PriorityClass':
      if (operator === 'In') return priorityClassName !== '' && values.includes(priorityClassName);
      if (operator === 'NotIn') return !values.includes(priorityClassName);
      return (priorityClassName !== '') === (operator === 'Exists');
    default:
      return false;
  }
}

/** True if the scopes of the quota include the object. Only Pods have scopes. */
function isInScopes({ spec }: ResourceQuota, kind: CountedKind, object: KubeObject): boolean {
  const scopes: ScopeRequirement[] = [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
  if (scopes.length === 0) return true;
  return isPods(kind) && scopes.every((scope) => isInScope(scope, object as Pod));
}

/** Returns what the object uses of the resources that the quota limits. {} if it is not counted. */
export function quotaUsage(quota: ResourceQuota, kind: CountedKind, object: KubeObject | undefined): Amounts {
  if (object === undefined || !isInScopes(quota, kind, object)) return {};
  const hard = quota.spec?.hard ?? {};
  const used = Object.entries(objectUsage(kind, object)).filter(([name]) => Object.hasOwn(hard, name));
  return Object.fromEntries(used);
}

/** Returns the hard amounts in the units of `amounts`: millicores for `cpu`, `requests.cpu` and `limits.cpu`. */
function hardAmounts({ spec }: ResourceQuota): Amounts {
  const entries = Object.entries(spec?.hard ?? {}).map(([name, value]) => {
    const unit = name.replace(/^(requests|limits)\./, '');
    return [name, amounts({ [unit]: value })[unit] ?? 0];
  });
  return Object.fromEntries(entries);
}

/** A quota that counts CPU or memory requires them of each container (podEvaluator.Constraints). */
function missingRequests(tracked: readonly string[], { spec }: Pod): string | undefined {
  const needed = tracked.filter((name) => /^((requests|limits)\.)?(cpu|memory)$/.test(name)).sort();
  const lacks = (name: string, { resources }: Container): boolean => {
    const [, of, unit = name] = /^(?:(requests|limits)\.)(.*)$/.exec(name) ?? [];
    const list = of === 'limits' ? resources?.limits : resources?.requests;
    return ownValue(list, unit) === undefined;
  };
  const texts = needed.flatMap((name) => {
    const containers = [...spec.containers, ...(spec.initContainers ?? [])].filter((one) => lacks(name, one));
    const names = [...new Set(containers.map((one) => one.name))].sort();
    return names.length > 0 ? [`${name} for: ${names.join(',')}`] : [];
  });
  return texts.length > 0 ? `must specify ${texts.join('; ')}` : undefined;
}

/** A list such as `pods=1,requests.cpu=500m`, sorted by name. */
function listText(names: readonly string[], of: Amounts, { spec }: ResourceQuota): string {
  return [...names]
    .sort()
    .map((name) => `${name}=${amountText(name, ownValue(of, name) ?? 0, spec?.hard?.[name])}`)
    .join(',');
}

/** A change of a quota's usage by one write. */
interface QuotaCharge {
  delta: Amounts;
  /** Why the write is refused. Absent: it is allowed. */
  refusal?: string;
}

/**
 * Returns what a write adds to the usage, and why it is refused (CheckRequest). A write that uses less is always
 * allowed. `used`: the usage with all writes in flight.
 */
export function quotaCharge(
  quota: ResourceQuota,
  used: Amounts,
  kind: CountedKind,
  next: KubeObject,
  current: KubeObject | undefined,
): QuotaCharge {
  const { name } = quota.metadata;
  if (isPods(kind) && isInScopes(quota, kind, next)) {
    const missing = missingRequests(Object.keys(quota.spec?.hard ?? {}), next as Pod);
    if (missing !== undefined) return { delta: {}, refusal: `failed quota: ${name}: ${missing}` };
  }
  const usage = quotaUsage(quota, kind, next);
  const before = quotaUsage(quota, kind, current);
  const grown = Object.entries(usage).map(
    ([one, amount]) => [one, amount - (ownValue(before, one) ?? 0)] as const,
  );
  const delta: Amounts = Object.fromEntries(grown.filter(([, amount]) => amount > 0));
  const hard = hardAmounts(quota);
  const exceeded = Object.keys(delta).filter(
    (one) => (ownValue(used, one) ?? 0) + (delta[one] ?? 0) > (ownValue(hard, one) ?? 0),
  );
  if (exceeded.length === 0) return { delta };
  const refusal = `exceeded quota: ${name}, requested: ${listText(exceeded, delta, quota)}, used: ${listText(exceeded, used, quota)}, limited: ${listText(exceeded, hard, quota)}`;
  return { delta, refusal };
}

/** Returns the status of a quota with this usage. */
export function quotaStatus(quota: ResourceQuota, used: Amounts): NonNullable<ResourceQuota['status']> {
  const hard = quota.spec?.hard ?? {};
  const texts = Object.keys(hard).map((name) => [
    name,
    amountText(name, ownValue(used, name) ?? 0, hard[name]),
  ]);
  return { hard: { ...hard }, used: Object.fromEntries(texts) };
}
