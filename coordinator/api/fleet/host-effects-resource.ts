/**
 * `POST /apis/fleet.everynode.dev/v1/hosteffects`: returns the Pods that a change of hosts would create or delete.
 * Nothing is stored.
 */

import type { NodeChange } from '../../../shared/kube/nodes/node-change.js';
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { isLabelKey, isLabelValue } from '../../../shared/kube/objects/label-syntax.js';
import { daemonSetKind } from '../../kinds/index.js';
import { isJsonMap } from '../../registry/encoding/json-value.js';
import { readRights } from '../auth/read-rights.js';
import { requiredBody } from '../bodies/write-body.js';
import { computedResource } from '../discovery/served-resource.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';

const MOST_HOSTS = 100_000;
const EFFECTS: ReadonlySet<unknown> = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute']);

export const HOST_EFFECT_RESOURCE = computedResource('HostEffect', 'hosteffects', ['create']);

/** Throws ApiError 400 for an invalid body. */
export async function handleHostEffect(
  { hostEffects, identities }: ApiDeps,
  request: ApiRequest,
): Promise<ApiResponse> {
  const body = requiredBody(request);
  if (!isJsonMap(body)) throw badRequest('hosts and change are required');
  const effect = await hostEffects.effectOf({ hosts: hostsIn(body.hosts), change: changeIn(body.change) });
  const { mayRead } = readRights(identities.authorizer, request.user);
  const daemonSets = effect.daemonSets.filter((daemonSet) => mayRead(daemonSetKind, daemonSet));
  const unreadable = effect.daemonSets.length - daemonSets.length;
  return ok({ ...effect, daemonSets, ...(unreadable > 0 ? { unreadable } : {}) });
}

function hostsIn(hosts: unknown): string[] {
  if (!Array.isArray(hosts) || !hosts.every((name) => typeof name === 'string')) {
    throw badRequest('hosts: a list of names is required');
  }
  if (hosts.length > MOST_HOSTS) throw badRequest(`hosts: at most ${MOST_HOSTS}`);
  return hosts;
}

function changeIn(change: unknown): NodeChange {
  if (!isJsonMap(change))
    throw badRequest('change: an object with labels, taints or unschedulable is required');
  const { labels = {}, taints = {}, unschedulable, ...others } = change;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw badRequest(`change.${unknown}: unknown field`);
  if (!isJsonMap(labels)) throw badRequest('change.labels: must be an object');
  for (const [key, value] of Object.entries(labels)) {
    const isGood = isLabelKey(key) && (value === null || (typeof value === 'string' && isLabelValue(value)));
    if (!isGood) throw badRequest(`change.labels[${key}]: not a valid label`);
  }
  if (!isJsonMap(taints)) throw badRequest('change.taints: must be an object with add and remove');
  for (const field of ['add', 'remove']) checkTaints(taints[field] ?? [], `change.taints.${field}`);
  if (unschedulable !== undefined && typeof unschedulable !== 'boolean') {
    throw badRequest('change.unschedulable: must be true or false');
  }
  return change as NodeChange;
}

function checkTaints(taints: unknown, field: string): void {
  if (!Array.isArray(taints)) throw badRequest(`${field}: must be a list`);
  for (const [index, taint] of taints.entries()) {
    const { key, effect, value = '' } = isJsonMap(taint) ? taint : {};
    const isGood =
      typeof key === 'string' &&
      isLabelKey(key) &&
      EFFECTS.has(effect) &&
      typeof value === 'string' &&
      isLabelValue(value);
    if (!isGood) throw badRequest(`${field}[${index}]: not a valid taint`);
  }
}
