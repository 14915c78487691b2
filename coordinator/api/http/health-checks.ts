/**
 * `/livez`, `/readyz` and `/healthz`, and a path for each of their checks (k8s.io/apiserver
 * `pkg/server/healthz`).
 */
import type { ApiResponse } from './api-context.js';
import type { PathRequest } from './request-info.js';

/**
 * None of these checks can fail while the server responds. A store failure ends the process, the API listens only after
 * the informers have synced, and a draining server responds 503 to everything. The checks exist because clients ask for
 * them by name.
 */
const LIVE = ['ping', 'store'];
const CHECKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['healthz', LIVE],
  ['livez', LIVE],
  ['readyz', [...LIVE, 'informer-sync']],
]);

/** Returns undefined for other paths. */
export function healthResponse({
  path,
  query,
}: Pick<PathRequest, 'path' | 'query'>): ApiResponse | undefined {
  const [, name = '', ...rest] = path.split('/');
  const checks = CHECKS.get(name);
  if (!checks) return undefined;
  const [check, ...surplus] = rest;
  if (check !== undefined) {
    return checks.includes(check) && surplus.length === 0 ? { type: 'text', text: 'ok' } : undefined;
  }
  const text = query.has('verbose') ? verboseText(name, checks, new Set(query.getAll('exclude'))) : 'ok';
  return { type: 'text', text };
}

function verboseText(name: string, checks: readonly string[], excluded: ReadonlySet<string>): string {
  const lines = checks.map((check) => `[+]${check} ${excluded.has(check) ? 'excluded: ' : ''}ok`);
  const unknown = [...excluded].filter((check) => !checks.includes(check)).sort();
  if (unknown.length > 0) {
    const names = unknown.map((check) => JSON.stringify(check)).join();
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  return [...lines, `${name} check passed`, ''].join('\n');
}
