/** Makes an empty data directory that of a further coordinator, by the commands that an operator would use. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runEverynode } from './run-everynode.js';

/** Of coordinator/cluster: the directory belongs to a member. */
const MEMBER_FILE = 'member.json';

interface JoinOptions {
  /** Data directory of a coordinator that is a member. */
  readonly memberDir: string;
  readonly dataDir: string;
  /** `https://HOST:PORT` of a member, and of the new one. */
  readonly memberServer: string;
  readonly server: string;
  readonly etcdFlags: readonly string[];
}

/** Does nothing if the directory belongs to a member. Throws `ExitError`. */
export async function joinMember({
  memberDir,
  dataDir,
  memberServer,
  server,
  etcdFlags,
}: JoinOptions): Promise<void> {
  if (existsSync(join(dataDir, MEMBER_FILE))) return;
  const token = await runEverynode(['coordinator', 'token', '--data', memberDir]);
  const args = ['coordinator', 'join', memberServer, '--token-file', '-', '--data', dataDir];
  const { hostname, port } = new URL(server);
  await runEverynode([...args, '--advertise', hostname, '--port', port, ...etcdFlags], token);
}
