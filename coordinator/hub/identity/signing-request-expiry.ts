/** Signing requests that nobody waits for any more go (pkg/controller/certificates/cleaner). A host that still waits files its own anew. */
import {
  type CertificateSigningRequest,
  requestPhase,
} from '../../../shared/kube/access/certificate-signing-request.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { certificateSigningRequestKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';

const HOUR_MS = 60 * 60 * 1000;
/** Decided ones, from the decision. */
const DECIDED_MS = HOUR_MS;
/** Others, from their creation; an approved one that is signed by somebody else too. */
const PENDING_MS = 24 * HOUR_MS;

/** Deletes what is over; answers how many there were. Throws ApiError. */
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
