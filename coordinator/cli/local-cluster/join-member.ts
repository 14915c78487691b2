/** Makes an empty data directory that of a further coordinator, by the command that an operator would use. */
import type { CoordinatorTokenDocument } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import type { ApiClient } from '../client/api-client.js';
import { runEverynode } from './run-everynode.js';

const TOKEN_PATH = `/apis/${FLEET_GROUP}/v1/coordinatortokens?ttlSeconds=600`;

/** `api` is that of the other members, `flags` are those of the new one. Throws `ExitError`. */
export async function joinMember(api: ApiClient, flags: readonly string[]): Promise<void> {
  const { token } = await api.request<CoordinatorTokenDocument>('POST', TOKEN_PATH);
  await runEverynode(['coordinator', 'join', api.server, '--token-file', '-', ...flags], token);
}
