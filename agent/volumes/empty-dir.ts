/** emptyDir volumes: a folder that lives as long as the Pod, through every restart of its containers (pkg/volume/emptydir). */
import { openFolder } from './folder.js';

/** Creates the folder, writable for whichever user the containers run as. */
export function prepareEmptyDir(path: string): Promise<void> {
  return openFolder(path, 0o777);
}
