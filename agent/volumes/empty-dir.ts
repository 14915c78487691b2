/** emptyDir volumes: a folder that lives as long as the Pod, through every restart of its containers (pkg/volume/emptydir). */
import { chmod, mkdir } from 'node:fs/promises';

/** Creates the folder, writable for whichever user the containers run as. */
export async function prepareEmptyDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  // mkdir's mode passes through the umask.
  await chmod(path, 0o777);
}
