/** Normalises image names, so that a short name means the same on every engine. */
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { IMAGE_ID, type ImageName, imageNameParts } from '../../../shared/kube/pods/image-syntax.js';

function textOf({ domain, path, tag, digest }: ImageName): string {
  return `${domain}/${path}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/**
 * Returns `docker.io/library/nginx:latest` for `nginx`. Image ids and full names remain unchanged; a digest makes the
 * tag irrelevant.
 */
export function fullImageName(image: string): string {
  if (IMAGE_ID.test(image)) return image;
  const { tag, ...name } = imageNameParts(image);
  if (name.digest !== undefined) return textOf(name);
  return textOf({ ...name, tag: tag ?? 'latest' });
}

/** Returns registry and repository of a full name, the key of credentials: `docker.io/library/nginx`. */
export function repositoryOf(fullName: string): string {
  const { domain, path } = imageNameParts(fullName);
  return `${domain}/${path}`;
}

/** Returns true for a name with a digest, whose content cannot change. */
export function hasDigest(image: string): boolean {
  return image.includes('@') || IMAGE_ID.test(image);
}

/** Returns the names to pull, in order: from the registry's mirrors, then from the registry itself. */
export function pullNames(fullName: string, mirrors: Readonly<Record<string, readonly string[]>>): string[] {
  if (IMAGE_ID.test(fullName)) return [fullName];
  const { domain, ...rest } = imageNameParts(fullName);
  const { path, tag, digest } = rest;
  const end = `${path}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  return [...(ownValue(mirrors, domain) ?? []).map((mirror) => `${mirror}/${end}`), fullName];
}

/** Returns the default policy: `Always` for `:latest` and no tag, else `IfNotPresent` (v1 SetDefaults_Container). */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (hasDigest(image)) return 'IfNotPresent';
  return (imageNameParts(image).tag ?? 'latest') === 'latest' ? 'Always' : 'IfNotPresent';
}
