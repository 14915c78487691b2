/**
 * Subresources about rollouts. `GET …/namespaces/NS/rollouts/NAME/hosts`: hosts with their reason codes, sorted by
 * name, filtered by `code=A,B` and `wave=NAME`, paged by `limit` and `continue`. `GET
 * …/namespaces/NS/rolloutpolicies/NAME/calendar?days=7`: the times at which the policy allows changes, by time zone.
 */

import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { type ApiDeps, type ApiRequest, type ApiResponse, ok } from '../http/api-context.js';
import type { RolloutHostList } from '../ports.js';
import { requestedRef } from '../resources/object-handlers.js';
import { integerParameter, requireKnownParameters } from '../resources/query-options.js';

const DEFAULT_LIMIT = 500;
const MOST = 10_000;
const PARAMETERS = ['code', 'wave', 'limit', 'continue'];

export interface RolloutHostsDocument extends RolloutHostList {
  kind: 'RolloutHosts';
  apiVersion: string;
  rollout: { namespace: string; name: string };
}

/** Throws ApiError: 400 for an invalid query, 404 for an unknown name. */
export async function handleRolloutHosts({ explainer }: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { query, namespace = '' } = request.info;
  requireKnownParameters(query, PARAMETERS);
  const ref = requestedRef(request);
  const wave = query.get('wave');
  const after = query.get('continue');
  const list = await explainer.rolloutHosts(ref, {
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

const DEFAULT_DAYS = 7;
const MOST_DAYS = 60;

/** Throws ApiError: 400 for an invalid query, 404 for an unknown name. */
export async function handleCalendar({ calendars }: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  requireKnownParameters(query, ['days']);
  const days = integerParameter(query, 'days', 1) ?? DEFAULT_DAYS;
  return ok(await calendars.calendarOf(requestedRef(request), Math.min(days, MOST_DAYS)));
}
