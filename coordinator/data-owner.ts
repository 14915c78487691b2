/** Writing into a data directory that belongs to a service's user, as root. */
import { stat } from 'node:fs/promises';

/**
 * Runs `work` with the file rights of the owner of the data directory. As root in a directory of another user, what `work` creates
 * is readable by the service, and a link that the service's user put there leads root nowhere that this user could not write itself.
 */
export async function asOwnerOf<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const { uid, gid } = await stat(dataDir);
  const { seteuid, setegid } = process;
  if (process.geteuid?.() !== 0 || uid === 0 || !seteuid || !setegid) return work();
  const groupBefore = process.getegid?.() ?? 0;
  // The group first, and back last: without root's user id neither can be changed.
  setegid(gid);
  seteuid(uid);
  try {
    return await work();
  } finally {
    seteuid(0);
    setegid(groupBefore);
  }
}
