/**
 * `GET …/namespaces/NS/rollouts/NAME/hosts`: every host with its one reason code, by name. `code=A,B` and `wave=NAME` choose,
 * `limit` and `continue` page.
 */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/fleet-group.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import { type ApiResponse, ok } from '../http/api-response.js';
import type { RolloutHostList } from '../ports.js';
import { requestedRef } from '../resources/object-handlers.js';
import { integerParameter } from '../resources/query-options.js';

const DEFAULT_LIMIT = 500;
const MOST = 10_000;
const PARAMETERS: ReadonlySet<string> = new Set(['code', 'wave', 'limit', 'continue', 'pretty']);

/** The answer. */
export interface RolloutHostsDocument extends RolloutHostList {
  kind: 'RolloutHosts';
  apiVersion: string;
  rollout: { namespace: string; name: string };
}

/** Throws ApiError: 400 for a wrong query, 404 for an unknown name. */
export async function handleRolloutHosts(
  { explainer: explain }: ApiDeps,
  request: ApiRequest,
): Promise<ApiResponse> {
  const { query, namespace = '' } = request.info;
  const unknown = [...query.keys()].find((key) => !PARAMETERS.has(key));
  if (unknown !== undefined) {
    throw badRequest(`unknown parameter "${unknown}": hosts takes code, wave, limit and continue`);
  }
  const ref = requestedRef(request);
  const wave = query.get('wave');
  const after = query.get('continue');
  const list = await explain.rolloutHosts(ref, {
    codes: query
      .getAll('code')
      .flatMap((text) => text.split(','))
      .filter((code) => code !== ''),
    ...(wave ? { wave } : {}),
    ...(after ? { after } : {}),
    limit: Math.min(MOST, Math.max(1, integerParameter(query, 'limit') ?? DEFAULT_LIMIT)),
  });
  return ok({
    kind: 'RolloutHosts',
    apiVersion: `${FLEET_GROUP}/v1`,
    rollout: { namespace, name: ref.name },
    ...list,
  } satisfies RolloutHostsDocument);
}
