/**
 * `/livez`, `/readyz` and `/healthz`, and a path for each of their checks (k8s.io/apiserver
 * `pkg/server/healthz`).
 */

import type { LeadershipProof } from '../ports.js';
import type { ApiResponse } from './api-context.js';
import type { PathRequest } from './request-info.js';

/**
 * None of these checks can fail while the server responds. A store failure ends the process, the API listens only after
 * the informers have synced, and a draining server responds 503 to everything. The checks exist because clients ask for
 * them by name.
 */
const LIVE = ['ping', 'store'];
const READY = [...LIVE, 'informer-sync'];
/** Only with several coordinators. It fails while writes are refused; a restart would not help, so `livez` lacks it. */
const ETCD = 'etcd';

/** Returns undefined for other paths. `leadership` is absent for a single coordinator. */
export function healthResponse(
  { path, query }: Pick<PathRequest, 'path' | 'query'>,
  leadership?: LeadershipProof,
): ApiResponse | undefined {
  const [, name = '', ...rest] = path.split('/');
  const checks = checksOf(name, leadership);
  if (!checks) return undefined;
  const [check, ...surplus] = rest;
  const failure = leadership && failureOf(leadership);
  if (check !== undefined) {
    if (!checks.includes(check) || surplus.length > 0) return undefined;
    return check === ETCD && failure
      ? { type: 'text', code: 500, text: `internal server error: ${failure}\n` }
      : { type: 'text', text: 'ok' };
  }
  const excluded = new Set(query.getAll('exclude'));
  const failed = checks.includes(ETCD) && !excluded.has(ETCD) ? failure : undefined;
  if (failed) return { type: 'text', code: 500, text: verboseText(name, checks, excluded, failed) };
  const text = query.has('verbose') ? verboseText(name, checks, excluded) : 'ok';
  return { type: 'text', text };
}

function checksOf(name: string, leadership: LeadershipProof | undefined): readonly string[] | undefined {
  if (name === 'healthz' || name === 'livez') return LIVE;
  if (name !== 'readyz') return undefined;
  return leadership ? [...READY, ETCD] : READY;
}

function failureOf({ state }: LeadershipProof): string | undefined {
  if (state === 'proven') return undefined;
  return state === 'lost' ? 'another coordinator leads' : 'etcd does not answer: writes are refused';
}

/** `failed`: why the check `etcd` failed. */
function verboseText(
  name: string,
  checks: readonly string[],
  excluded: ReadonlySet<string>,
  failed?: string,
): string {
  const lines = checks.map((check) => {
    if (failed && check === ETCD) return `[-]${check} failed: ${failed}`;
    return `[+]${check} ${excluded.has(check) ? 'excluded: ' : ''}ok`;
  });
  const unknown = [...excluded].filter((check) => !checks.includes(check)).sort();
  if (unknown.length > 0) {
    const names = unknown.map((check) => JSON.stringify(check)).join();
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  return [...lines, `${name} check ${failed ? 'failed' : 'passed'}`, ''].join('\n');
}
