/** Resolves the `subPath` of a mount (pkg/kubelet/kubelet_pods.go makeMounts, pkg/volume/util/subpath). */
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Container, VolumeMount } from '../../shared/kube/pods/pod-types.js';
import type { FileDescriptor } from './file-descriptor.js';
import { openBeneath } from './open-beneath.js';
import { VolumeError } from './volume-error.js';

/**
 * Returns the mount's path in its volume, with `$(VAR)` in `subPathExpr` replaced, or "" for the whole volume. Throws
 * `VolumeError` with the kubelet's message.
 */
export function subPathOf(mount: VolumeMount, environment: ReadonlyMap<string, string>): string {
  const { name, subPath = '', subPathExpr } = mount;
  if (!subPathExpr) return subPath;
  const expanded = subPathExpr.replace(/\$(\$|\(([^)]*)\))/g, (_, what: string, variable = '') => {
    if (what === '$') return '$';
    const value = environment.get(variable);
    if (value === undefined) throw new VolumeError(name, `missing value for "${variable}"`);
    return value;
  });
  if (isAbsolute(expanded))
    throw new VolumeError(name, `error SubPath "${expanded}" must not be an absolute path`);
  if (expanded.split('/').includes('..')) {
    throw new VolumeError(name, `unable to provision SubPath "${expanded}": must not contain '..'`);
  }
  return expanded;
}

/** Names a mount in error messages. */
interface NamedMount {
  mount: VolumeMount;
  container: Pick<Container, 'name'>;
}

/** Returns the kubelet's error, without the cause, which could reveal files. `reason`: what the host lacks. */
export function subPathError({ mount, container }: NamedMount, cause: unknown, reason?: string): VolumeError {
  const what = `volumeMount "${mount.name}" of container "${container.name}"`;
  const message = `failed to prepare subPath for ${what}${reason === undefined ? '' : `: ${reason}`}`;
  return new VolumeError(mount.name, message, { cause });
}

/**
 * Opens `path` below the volume at `root`. Creates missing folders with the mode of the volume (SafeMakeDir). Follows
 * links as long as they stay inside. Throws `VolumeError` for a link that leads out.
 */
export async function openSubPath(
  volume: FileDescriptor,
  root: string,
  path: string,
  named: NamedMount,
): Promise<FileDescriptor> {
  const prefixes = [root, await realpath(root).catch(() => root)];
  const make = async (parent: FileDescriptor, name: string): Promise<void> => {
    try {
      await parent.makeFolder(name, volume.stats.mode & 0o7777);
    } catch (cause) {
      const what = `volumeMount "${named.mount.name}" of container "${named.container.name}"`;
      throw new VolumeError(named.mount.name, `failed to create subPath directory for ${what}`, { cause });
    }
  };
  const belowTop = (target: string) => {
    const prefix = prefixes.find((one) => target === one || target.startsWith(one === '/' ? one : `${one}/`));
    return prefix === undefined ? undefined : target.slice(prefix.length);
  };
  try {
    return await openBeneath(volume, path, { aboveTop: 'refuse', belowTop, make });
  } catch (cause) {
    throw cause instanceof VolumeError ? cause : subPathError(named, cause);
  }
}
