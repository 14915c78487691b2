/** From a request to the handler that answers it. */
import { badRequest } from '../../shared/kube/status.js';
import type { Kind } from '../kinds/kind.js';
import type { Answer } from './answer.js';
import type { ApiParts, ApiRequest } from './api-request.js';
import { answerAudit, isAuditRequest } from './audit/audit-list.js';
import { answerCalendar } from './change-calendar.js';
import { answerHostEffect, isHostEffectRequest } from './host-effects.js';
import { answerHosts, isHostsRequest } from './hosts.js';
import { answerJoinAddress, isJoinAddressRequest } from './join-address.js';
import { answerMetrics, isMetricsRequest } from './metrics.js';
import { answerPlan, isPlanRequest } from './plan.js';
import { answerPodLog } from './pod-log.js';
import { answerBinding, answerEviction } from './pod-subresources.js';
import { answerResource, answerStatus } from './resources.js';
import { answerRestore, isRestoreRequest, warnOfRestore } from './restore.js';
import { answerReview } from './reviews.js';
import { answerRolloutHosts } from './rollout-hosts.js';
import { methodNotAllowed, pathNotFound } from './status-response.js';
import { answerTokenRequest } from './token-request.js';
import { answerWhy, isWhyRequest } from './why.js';

type Handler = (parts: ApiParts, request: ApiRequest) => Promise<Answer>;

/** Subresources with rules of their own, by `resource/subresource`. */
const SUBRESOURCES: Readonly<Record<string, Handler>> = {
  'pods/attach': refusePlain,
  'pods/exec': refusePlain,
  'pods/log': answerPodLog,
  'pods/portforward': refusePlain,
  'pods/eviction': answerEviction,
  'pods/binding': answerBinding,
  'serviceaccounts/token': answerTokenRequest,
  'rolloutpolicies/calendar': answerCalendar,
  'rollouts/hosts': answerRolloutHosts,
};

/** What `upgrades/` serves needs a connection of its own (apimachinery `NewUpgradeRequired`). */
async function refusePlain(): Promise<Answer> {
  throw badRequest('Upgrade request required');
}

function answerSubresource(
  parts: ApiParts,
  kind: Kind,
  subresource: string,
  request: ApiRequest,
): Promise<Answer> {
  const served = Object.hasOwn(kind.subresources, subresource) ? kind.subresources[subresource] : undefined;
  if (!served) throw pathNotFound();
  if (!served.verbs.includes(request.info.verb)) throw methodNotAllowed();
  if (subresource === 'status' || subresource === 'approval') return answerStatus(parts, kind, request);
  const handler = SUBRESOURCES[`${kind.resource}/${subresource}`];
  if (!handler) throw pathNotFound();
  return handler(parts, request);
}

/** A namespaced kind is found at its namespace or across all, a cluster-scoped one only outside. */
function isAtItsPlace(kind: Kind, { namespace, name, verb }: ApiRequest['info']): boolean {
  if (!kind.namespaced) return namespace === undefined;
  return namespace !== undefined || (name === undefined && (verb === 'list' || verb === 'watch'));
}

/** What is at a resource's place and is stored nowhere. */
async function answerOther(parts: ApiParts, request: ApiRequest): Promise<Answer> {
  if (isHostsRequest(request.info)) return answerHosts(parts, request);
  if (isMetricsRequest(request.info)) return answerMetrics(parts, request);
  if (isAuditRequest(request.info)) return answerAudit(parts, request);
  if (isWhyRequest(request.info)) return answerWhy(parts, request);
  if (isHostEffectRequest(request.info)) return answerHostEffect(parts, request);
  if (isJoinAddressRequest(request.info)) return answerJoinAddress(parts, request);
  if (isPlanRequest(request.info)) return answerPlan(parts, request);
  if (isRestoreRequest(request.info)) return answerRestore(parts, request);
  return answerReview(parts, request);
}

/** Answers a request on a resource. Throws ApiError. */
export async function answerRequest(parts: ApiParts, request: ApiRequest): Promise<Answer> {
  const { group, version, resource, subresource } = request.info;
  const kind = parts.registry.kinds.find(
    (candidate) =>
      candidate.resource === resource && candidate.group === group && candidate.version === version,
  );
  if (!kind) return answerOther(parts, request);
  warnOfRestore(parts, request);
  if (!isAtItsPlace(kind, request.info)) throw kind.namespaced ? methodNotAllowed() : pathNotFound();
  if (subresource !== undefined) return answerSubresource(parts, kind, subresource, request);
  return answerResource(parts, kind, request);
}
