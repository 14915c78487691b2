/** Fetches the coordinator's metrics as Prometheus does. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import type { CoordinatorApi } from './coordinator-api.js';

/** Fetches a metrics page. `headers` replace those of the administrator. */
export async function metricsPage(
  api: Pick<CoordinatorApi, 'requestFor'>,
  path = '/metrics',
  headers?: Record<string, string>,
): Promise<{ code: number; text: string }> {
  const request = api.requestFor(path);
  const asked = get(request.url, { ca: request.ca, headers: headers ?? request.headers });
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { code: answer.statusCode ?? 0, text: await textOf(answer) };
}
