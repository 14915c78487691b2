/** Removes the log files of Pods when the agent leaves the host. */
import { podLogPaths } from '../decisions/pod-logs/pod-log-paths.js';
import { LogPositions } from './log-positions.js';
import { removeEmptyFolders, removePodLog } from './pod-log-folder.js';

/** Removes the files and links that this agent wrote, and no other program's. Throws the system's error. */
export async function removePodLogs(dataDir: string): Promise<void> {
  const positions = new LogPositions(dataDir);
  const directories = new Set<string>();
  for (const id of await positions.ids()) {
    const position = await positions.read(id);
    const paths = position && podLogPaths(position.identity, id);
    if (!paths) continue;
    await removePodLog(position.directory, paths);
    directories.add(position.directory);
  }
  for (const directory of directories) await removeEmptyFolders(directory);
  await positions.clear();
}
