/**
 * Normalises image names, so that a short name means the same on every engine (distribution/reference
 * ParseNormalizedNamed).
 */
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';

const DEFAULT_DOMAIN = 'docker.io';
const IMAGE_ID = /^(sha256:)?[0-9a-f]{64}$/;
const PATH_PART = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;
const DOMAIN =
  /^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]+)?$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const MAX_NAME = 255;

interface ImageName {
  domain: string;
  path: string;
  tag?: string;
  digest?: string;
}

/** Returns true if the first component is a registry instead of a user of Docker Hub. */
function isDomain(part: string): boolean {
  return part.includes('.') || part.includes(':') || part === 'localhost' || part.toLowerCase() !== part;
}

function partsOf(image: string): ImageName {
  const [rest = '', digest] = image.split('@');
  const slash = rest.indexOf('/');
  const first = slash < 0 ? '' : rest.slice(0, slash);
  const hasDomain = slash >= 0 && isDomain(first);
  const tagged = hasDomain ? rest.slice(slash + 1) : rest;
  const colon = tagged.lastIndexOf(':');
  const path = colon < 0 ? tagged : tagged.slice(0, colon);
  const domain = hasDomain && first !== 'index.docker.io' ? first : DEFAULT_DOMAIN;
  return {
    domain,
    path: domain === DEFAULT_DOMAIN && !path.includes('/') ? `library/${path}` : path,
    ...(colon < 0 ? {} : { tag: tagged.slice(colon + 1) }),
    ...(digest === undefined ? {} : { digest }),
  };
}

function textOf({ domain, path, tag, digest }: ImageName): string {
  return `${domain}/${path}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/**
 * Returns `docker.io/library/nginx:latest` for `nginx`. Image ids and full names remain unchanged; a digest makes the
 * tag irrelevant.
 */
export function fullImageName(image: string): string {
  if (IMAGE_ID.test(image)) return image;
  const { tag, ...name } = partsOf(image);
  if (name.digest !== undefined) return textOf(name);
  return textOf({ ...name, tag: tag ?? 'latest' });
}

/**
 * Returns why the image name is invalid, with the message of the library that a kubelet uses; undefined if it is valid.
 */
export function imageNameError(image: string): string | undefined {
  if (IMAGE_ID.test(image)) return undefined;
  const { domain, path, tag, digest } = partsOf(image);
  if (path.toLowerCase() !== path) {
    return `invalid reference format: repository name (${path}) must be lowercase`;
  }
  const isWellFormed =
    DOMAIN.test(domain) &&
    path.split('/').every((part) => PATH_PART.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest)) &&
    image.split('@').length <= 2;
  if (!isWellFormed) return 'invalid reference format';
  const length = domain.length + 1 + path.length;
  return length > MAX_NAME ? `repository name must not be more than ${MAX_NAME} characters` : undefined;
}

/** Returns registry and repository of a full name, the key of credentials: `docker.io/library/nginx`. */
export function repositoryOf(fullName: string): string {
  const { domain, path } = partsOf(fullName);
  return `${domain}/${path}`;
}

/** Returns true for a name with a digest, whose content cannot change. */
export function hasDigest(image: string): boolean {
  return image.includes('@') || IMAGE_ID.test(image);
}

/** Returns the names to pull, in order: from the registry's mirrors, then from the registry itself. */
export function pullNames(fullName: string, mirrors: Readonly<Record<string, readonly string[]>>): string[] {
  if (IMAGE_ID.test(fullName)) return [fullName];
  const { domain, ...rest } = partsOf(fullName);
  const { path, tag, digest } = rest;
  const end = `${path}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  return [...(ownValue(mirrors, domain) ?? []).map((mirror) => `${mirror}/${end}`), fullName];
}

/** Returns the default policy: `Always` for `:latest` and no tag, else `IfNotPresent` (v1 SetDefaults_Container). */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (hasDigest(image)) return 'IfNotPresent';
  return (partsOf(image).tag ?? 'latest') === 'latest' ? 'Always' : 'IfNotPresent';
}
