/** Deletes expired join tokens (pkg/controller/bootstrap TokenCleaner). */

import { TOKEN_SECRET_TYPE } from '../../../shared/kube/access/join-token-secret.js';
import { ENROLMENT_NAMESPACE } from '../../../shared/kube/nodes/node-credential-secret.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { secretKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';

/** Deletes expired tokens and returns their number. Throws ApiError. */
export async function expireJoinTokens(
  registry: Pick<Registry, 'list' | 'delete'>,
  clock: Clock,
): Promise<number> {
  const selection = { namespace: ENROLMENT_NAMESPACE, fieldSelector: `type=${TOKEN_SECRET_TYPE}` };
  const { records } = await registry.list(secretKind, selection);
  const expired = records.map((record) => record.object()).filter((secret) => isPast(secret, clock.now()));
  for (const secret of expired) await remove(registry, secret);
  return expired.length;
}

function isPast({ data }: Secret, now: number): boolean {
  const expiration = Buffer.from(data?.expiration ?? '', 'base64').toString('utf8');
  return Date.parse(expiration) <= now;
}

async function remove(registry: Pick<Registry, 'delete'>, { metadata }: Secret): Promise<void> {
  const preconditions = metadata.uid ? { uid: metadata.uid } : {};
  await unlessGone(() => registry.delete(secretKind, metadata, { preconditions }));
}
