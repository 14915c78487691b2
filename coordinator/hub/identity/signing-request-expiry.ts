/** Deletes outdated CertificateSigningRequests (pkg/controller/certificates/cleaner). */
import {
  type CertificateSigningRequest,
  requestPhase,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { certificateSigningRequestKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';

const HOUR_MS = 60 * 60 * 1000;
/** For decided requests, from the decision. */
const DECIDED_MS = HOUR_MS;
/** For other requests, from their creation. This includes approved requests for a foreign signer. */
const PENDING_MS = 24 * HOUR_MS;

/** Deletes outdated requests and returns their number. Throws ApiError. */
export async function expireSigningRequests(
  registry: Pick<Registry, 'list' | 'delete'>,
  clock: Clock,
): Promise<number> {
  const { records } = await registry.list(certificateSigningRequestKind);
  const over = records.map((record) => record.object()).filter((request) => isOver(request, clock.now()));
  for (const request of over) await remove(registry, request);
  return over.length;
}

function isOver(request: CertificateSigningRequest, now: number): boolean {
  const phase = requestPhase(request);
  const isDecided = phase === 'issued' || phase === 'denied' || phase === 'failed';
  const decided = (request.status?.conditions ?? []).map(({ lastUpdateTime }) => timeOf(lastUpdateTime));
  const since = Math.max(timeOf(request.metadata.creationTimestamp), ...decided);
  return now - since > (isDecided ? DECIDED_MS : PENDING_MS);
}

function timeOf(timestamp: string | null | undefined): number {
  const time = Date.parse(timestamp ?? '');
  return Number.isNaN(time) ? 0 : time;
}

async function remove(
  registry: Pick<Registry, 'delete'>,
  { metadata: { name, uid } }: CertificateSigningRequest,
): Promise<void> {
  const options = { preconditions: uid ? { uid } : {} };
  await unlessGone(() => registry.delete(certificateSigningRequestKind, { name }, options));
}
