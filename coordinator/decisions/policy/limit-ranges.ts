/** Defaults and limits of a LimitRange (plugin/pkg/admission/limitranger). */

import { canonicalQuantity } from '../../../shared/kube/objects/canonical-quantity.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { parseQuantity, type Quantity } from '../../../shared/kube/objects/quantity.js';
import {
  type Amounts,
  amounts,
  amountText,
  containerAmounts,
} from '../../../shared/kube/pods/pod-requests.js';
import type { Container, Pod, ResourceList } from '../../../shared/kube/pods/pod-types.js';
import type { LimitRange, LimitRangeItem } from '../../../shared/kube/policy/quota-types.js';

const ANNOTATION = 'kubernetes.io/limit-ranger';

function itemsOf({ spec }: LimitRange, type: string): LimitRangeItem[] {
  return (spec?.limits ?? []).filter((item) => item.type === type);
}

/** Adds the entries that `list` lacks. Returns their sorted names. */
function addMissing(list: ResourceList, defaults: ResourceList): string[] {
  const added = Object.keys(defaults).filter((name) => !Object.hasOwn(list, name));
  for (const name of added) list[name] = defaults[name] as Quantity;
  return added.sort();
}

/** Sets requests and limits that a container lacks, in place. Returns what was set, as in the annotation. */
function defaultContainer(container: Container, defaults: LimitRangeItem, what: string): string[] {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const setLimits = addMissing(limits, defaults.default ?? {});
  const setRequests = addMissing(requests, defaults.defaultRequest ?? {});
  if (setLimits.length + setRequests.length === 0) return [];
  container.resources = {
    ...container.resources,
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  };
  return [
    ...(setRequests.length > 0 ? [`${setRequests.join(', ')} request for ${what} ${container.name}`] : []),
    ...(setLimits.length > 0 ? [`${setLimits.join(', ')} limit for ${what} ${container.name}`] : []),
  ];
}

/** Sets the defaults of one range on a new Pod, in place, and notes them in an annotation. */
export function applyLimitDefaults(pod: Pod, range: LimitRange): void {
  const defaults: LimitRangeItem = { type: 'Container', default: {}, defaultRequest: {} };
  for (const item of itemsOf(range, 'Container')) {
    defaults.default = { ...defaults.default, ...item.default };
    defaults.defaultRequest = { ...defaults.defaultRequest, ...item.defaultRequest };
  }
  const { containers, initContainers = [] } = pod.spec;
  const notes = [
    ...containers.flatMap((one) => defaultContainer(one, defaults, 'container')),
    ...initContainers.flatMap((one) => defaultContainer(one, defaults, 'init container')),
  ];
  if (notes.length === 0) return;
  const text = `LimitRanger plugin set: ${notes.join('; ')}`;
  pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: text };
}

/** Requests and limits of what a constraint applies to. */
interface Constrained {
  requests: Amounts;
  limits: Amounts;
  /** Returns the amount as the manifest has it. */
  text(name: string, amount: number, like: Quantity): string;
}

/** The end of upstream's sentences, with two spaces before "No". */
const NO_REQUEST = '.  No request is specified';
const NO_LIMIT = '.  No limit is specified';

function minimum(what: string, name: string, least: Quantity, { requests, limits, text }: Constrained) {
  const rule = `minimum ${name} usage per ${what} is ${canonicalQuantity(least)}`;
  const enforced = ownValue(amounts({ [name]: least }), name) ?? 0;
  const request = ownValue(requests, name);
  const limit = ownValue(limits, name);
  if (request === undefined) return rule + NO_REQUEST;
  if (request < enforced) return `${rule}, but request is ${text(name, request, least)}`;
  if (limit !== undefined && limit < enforced) return `${rule}, but limit is ${text(name, limit, least)}`;
  return undefined;
}

function maximum(what: string, name: string, most: Quantity, { requests, limits, text }: Constrained) {
  const rule = `maximum ${name} usage per ${what} is ${canonicalQuantity(most)}`;
  const enforced = ownValue(amounts({ [name]: most }), name) ?? 0;
  const request = ownValue(requests, name);
  const limit = ownValue(limits, name);
  if (limit === undefined) return rule + NO_LIMIT;
  if (limit > enforced) return `${rule}, but limit is ${text(name, limit, most)}`;
  if (request !== undefined && request > enforced)
    return `${rule}, but request is ${text(name, request, most)}`;
  return undefined;
}

function ratio(what: string, name: string, most: Quantity, { requests, limits }: Constrained) {
  const rule = `${name} max limit to request ratio per ${what} is ${canonicalQuantity(most)}`;
  const request = ownValue(requests, name) ?? 0;
  const limit = ownValue(limits, name) ?? 0;
  if (request === 0) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0) return `${rule}, but no limit is specified or limit is 0`;
  const provided = limit / request;
  if (provided <= (parseQuantity(most) ?? 0)) return undefined;
  return `${rule}, but provided ratio is ${provided.toFixed(6)}`;
}

function violationsOf(item: LimitRangeItem, of: Constrained): string[] {
  const { type, min = {}, max = {}, maxLimitRequestRatio = {} } = item;
  const found = [
    ...Object.entries(min).map(([name, value]) => minimum(type, name, value, of)),
    ...Object.entries(max).map(([name, value]) => maximum(type, name, value, of)),
    ...Object.entries(maxLimitRequestRatio).map(([name, value]) => ratio(type, name, value, of)),
  ];
  return found.flatMap((text) => text ?? []);
}

function containerOf({ resources = {} }: Container): Constrained {
  const { requests, limits } = resources;
  return { requests: amounts(requests), limits: amounts(limits), text: amountsAsWritten(requests, limits) };
}

/** Returns a formatter of amounts in the notation in which these lists have the resource. */
function amountsAsWritten(...lists: (ResourceList | undefined)[]) {
  return (name: string, amount: number, like: Quantity): string => {
    const own = lists.map((list) => ownValue(list, name)).find((value) => value !== undefined);
    return amountText(name, amount, own ?? like);
  };
}

/** Returns why the Pod violates a range, or undefined. Several reasons are joined as by `errors.NewAggregate`. */
export function limitRefusal({ spec }: Pod, range: LimitRange): string | undefined {
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  const whole: Constrained = {
    requests: containerAmounts(spec, 'requests'),
    limits: containerAmounts(spec, 'limits'),
    text: amountsAsWritten(...all.flatMap(({ resources }) => [resources?.requests, resources?.limits])),
  };
  const reasons = [
    ...itemsOf(range, 'Container').flatMap((item) =>
      all.flatMap((container) => violationsOf(item, containerOf(container))),
    ),
    ...itemsOf(range, 'Pod').flatMap((item) => violationsOf(item, whole)),
  ];
  const unique = [...new Set(reasons)];
  return unique.length > 1 ? `[${unique.join(', ')}]` : unique[0];
}

/** Returns why the storage request of a claim violates a range, or undefined. */
export function claimRefusal(requests: ResourceList | undefined, range: LimitRange): string | undefined {
  // A maximum needs no limit here: the request itself is limited (maxRequestConstraint).
  const of: Constrained = {
    requests: amounts(requests),
    limits: amounts(requests),
    text: amountsAsWritten(requests),
  };
  const reasons = itemsOf(range, 'PersistentVolumeClaim').flatMap(({ min, max }) =>
    violationsOf({ type: 'PersistentVolumeClaim', ...(min ? { min } : {}), ...(max ? { max } : {}) }, of),
  );
  return reasons[0]?.replace('but limit is', 'but request is').replace(NO_LIMIT, NO_REQUEST);
}
