/**
 * Decides which host paths Pods may mount. Nothing below a path that Pods may write can be mounted: at any time a Pod
 * could replace a directory there by a symbolic link, and the next mount would be of `/etc`.
 */
import { posix } from 'node:path';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';

/** A path that may be mounted. `readOnly` allows everything below it as well, but only without write access. */
export interface AllowedPath {
  path: string;
  readOnly: boolean;
}

/** Returns why a hostPath volume of the Pod is not allowed; undefined if all are. */
export function hostPathRefusal(
  { spec }: Pick<Pod, 'spec'>,
  allowed: readonly AllowedPath[],
): string | undefined {
  for (const { name, hostPath } of spec.volumes ?? []) {
    const why = hostPath && refusalOf(plainPath(hostPath.path), allowed, () => writerOf(spec, name));
    if (why) return `volume "${name}": the path ${JSON.stringify(hostPath.path)} of the host ${why}`;
  }
  return undefined;
}

function refusalOf(
  wanted: string,
  allowed: readonly AllowedPath[],
  writer: () => string | undefined,
): string | undefined {
  const writable = allowed.filter(({ readOnly }) => !readOnly);
  // A Pod that may write the root directory can reach every path without a link.
  if (writable.some(({ path }) => path === '' || path === wanted)) return undefined;
  const above = writable.find(({ path }) => isBelow(wanted, path));
  if (above) {
    const path = JSON.stringify(above.path);
    return `is not allowed: Pods may write ${path} and replace directories below it by links; the policy allows ${path} itself`;
  }
  const isReadable = allowed.some(({ path }) => path === wanted || isBelow(wanted, path));
  if (!isReadable) return 'is not allowed';
  const container = writer();
  return container === undefined
    ? undefined
    : `is allowed read-only: container "${container}" must mount it with readOnly: true`;
}

/** Returns the first container that mounts the volume without `readOnly`. */
function writerOf(spec: Pod['spec'], volume: string): string | undefined {
  const { containers, initContainers = [] } = spec;
  const writes = ({ volumeMounts = [] }: Container): boolean =>
    volumeMounts.some(({ name, readOnly }) => name === volume && !readOnly);
  return [...initContainers, ...containers].find(writes)?.name;
}

/** Reads the list of a policy file: paths, or maps of `path` and `readOnly`. Throws an Error that names the mistake. */
export function readAllowedPaths(value: unknown): AllowedPath[] {
  if (!Array.isArray(value)) throw new Error('hostPaths must be a list of paths');
  const allowed = value.map(readAllowedPath);
  const writable = allowed.filter(({ path, readOnly }) => !readOnly && path !== '');
  for (const { path } of allowed) {
    const above = writable.find((other) => isBelow(path, other.path));
    if (above) {
      throw new Error(
        `hostPaths: ${path} is below ${above.path}, where Pods may put a link in its place: allow ${above.path} with readOnly: true, or leave one of the two out`,
      );
    }
  }
  return allowed;
}

function readAllowedPath(item: unknown): AllowedPath {
  const { path, readOnly = false, ...others } = typeof item === 'string' ? { path: item } : fieldsOf(item);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`hostPaths: ${JSON.stringify(unknown)} is not a field`);
  if (typeof path !== 'string') throw new Error('hostPaths: an item must be a path, or a map with a path');
  if (!path.startsWith('/')) throw new Error(`hostPaths: ${JSON.stringify(path)} does not begin with /`);
  if (typeof readOnly !== 'boolean') throw new Error('hostPaths: readOnly must be true or false');
  return { path: plainPath(path), readOnly };
}

function fieldsOf(item: unknown): { path?: unknown; readOnly?: unknown } {
  return typeof item === 'object' && item !== null && !Array.isArray(item) ? item : {};
}

function isBelow(path: string, root: string): boolean {
  return path.startsWith(`${root}/`);
}

/** Returns the normalised path without a final slash; "" for the root. */
function plainPath(path: string): string {
  return posix.normalize(path).replace(/\/+$/, '');
}
