/** Makes data directories those of members, by the commands that an operator would use. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CoordinatorTokenDocument } from '../../../shared/kube/fleet/coordinator-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { MEMBER_FILE } from '../../cluster/member-file.js';
import type { ApiClient } from '../client/api-client.js';
import { runEverynode } from './run-everynode.js';

const TOKEN_PATH = `/apis/${FLEET_GROUP}/v1/coordinatortokens?ttlSeconds=600`;

export interface NewMember {
  readonly dataDir: string;
  /** `https://HOST:PORT` of its own. */
  readonly server: string;
  readonly etcdFlags: readonly string[];
}

export function isMember(dataDir: string): boolean {
  return existsSync(join(dataDir, MEMBER_FILE));
}

/** Makes a stopped coordinator the first member. Throws `ExitError`. */
export async function clusterizeFirst(member: NewMember): Promise<void> {
  await runEverynode(['coordinator', 'clusterize', ...flagsOf(member)]);
}

/** Joins a coordinator with an empty data directory. `api` is that of the other members. Throws `ExitError`. */
export async function joinMember(api: ApiClient, member: NewMember): Promise<void> {
  const { token } = await api.request<CoordinatorTokenDocument>('POST', TOKEN_PATH);
  const args = ['coordinator', 'join', api.server, '--token-file', '-'];
  await runEverynode([...args, ...flagsOf(member)], token);
}

function flagsOf({ dataDir, server, etcdFlags }: NewMember): string[] {
  const { hostname, port } = new URL(server);
  return ['--data', dataDir, '--advertise', hostname, '--port', port, ...etcdFlags];
}
