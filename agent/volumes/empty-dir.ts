/** emptyDir volumes: a folder that lives as long as the Pod, through every restart of its containers (pkg/volume/emptydir). */
import { ensureFolder } from './ensure-folder.js';

/** Creates the folder, writable for whichever user the containers run as. */
export function prepareEmptyDir(path: string): Promise<void> {
  return ensureFolder(path, 0o777);
}
