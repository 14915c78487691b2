/** Digest of a Service view. A host that reconnects names it, so that the hub sends only changed views. */
import { createHash } from 'node:crypto';
import type { RemoteEndpoint, ServiceEndpoint, ServiceView } from '../kube/services/service-view.js';

const DIGEST_CHARACTERS = 16;

/** Returns the digest of the view. It ignores ids and order of endpoints, which differ between sessions. */
export function serviceViewDigest({ remote, ...service }: ServiceView): string {
  const endpoints = remote.map(withoutId).map((endpoint) => JSON.stringify(sorted(endpoint)));
  const content = JSON.stringify(sorted(service)) + endpoints.sort().join();
  return createHash('sha256').update(content).digest('base64url').slice(0, DIGEST_CHARACTERS);
}

function withoutId({ id: _, ...endpoint }: RemoteEndpoint): ServiceEndpoint {
  return endpoint;
}

/** Returns a copy with sorted keys: the decoded view of a host may list its fields in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    entries.sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, field]) => [key, sorted(field)]),
  );
}
