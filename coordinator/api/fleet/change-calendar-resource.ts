/** `GET …/namespaces/NS/rolloutpolicies/NAME/calendar?days=7`: when what a policy governs may be changed, by time zone. */
import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { ApiDeps, ApiRequest } from '../http/api-context.js';
import { type ApiResponse, ok } from '../http/api-response.js';
import { requestedRef } from '../resources/object-handlers.js';
import { integerParameter } from '../resources/query-options.js';

const DEFAULT_DAYS = 7;
const MOST_DAYS = 60;

/** Throws ApiError: 400 for a wrong query, 404 for an unknown name. */
export async function handleCalendar({ calendars }: ApiDeps, request: ApiRequest): Promise<ApiResponse> {
  const { query } = request.info;
  const unknown = [...query.keys()].find((key) => key !== 'days' && key !== 'pretty');
  if (unknown !== undefined) throw badRequest(`unknown parameter "${unknown}": calendar takes days=N alone`);
  const days = integerParameter(query, 'days', 1) ?? DEFAULT_DAYS;
  return ok(await calendars.calendarOf(requestedRef(request), Math.min(days, MOST_DAYS)));
}
