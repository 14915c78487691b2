/** Metrics of API requests, with upstream's names (kube-apiserver's `apiserver_request_*`). */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { LoggedRequest } from '../api/http/request-log.js';

/** Upstream's buckets in seconds, without the ones that hold no response times of this server. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 1, 2, 5, 10, 30, 60];
const LABELS = ['verb', 'group', 'version', 'resource', 'subresource'] as const;

/**
 * Registers the metrics and returns the observer of requests. `resources` are the names allowed as labels. Other names
 * count as "", because clients can invent any number of them.
 */
export function requestMetrics(
  registry: Registry,
  resources: ReadonlySet<string>,
): (request: LoggedRequest) => void {
  const registers = [registry];
  const total = new Counter({
    ...{ name: 'apiserver_request_total', help: 'Requests by verb, resource and HTTP status.' },
    ...{ labelNames: [...LABELS, 'code'], registers },
  });
  const duration = new Histogram({
    ...{
      name: 'apiserver_request_duration_seconds',
      help: 'Time until the end of the response, without watches.',
    },
    ...{ labelNames: LABELS, buckets: BUCKETS, registers },
  });
  return ({ info, code, durationMs }) => {
    if (info?.type !== 'resource') return;
    const { verb, group, version, resource, subresource = '' } = info;
    const isKnown = resources.has(resource);
    const labels = {
      verb: verb.toUpperCase(),
      group: isKnown ? group : '',
      version: isKnown ? version : '',
      resource: isKnown ? resource : '',
      subresource: isKnown && code !== 404 ? subresource : '',
    };
    total.inc({ ...labels, code: String(code) });
    if (verb !== 'watch') duration.observe(labels, durationMs / 1000);
  };
}
