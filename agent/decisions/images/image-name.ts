/** Image names, so that a short one means the same on every engine (distribution/reference ParseNormalizedNamed). */
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';

const DEFAULT_DOMAIN = 'docker.io';
const IMAGE_ID = /^(sha256:)?[0-9a-f]{64}$/;
const PATH_PART = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;
const DOMAIN =
  /^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]+)?$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const MAX_NAME = 255;

/** A full name in its parts. */
interface ImageName {
  domain: string;
  path: string;
  tag?: string;
  digest?: string;
}

/** True when the first part of a name is a registry and not a user of the default one. */
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

/** `nginx` as `docker.io/library/nginx:latest`; an image id and a full name stay as they are. A digest makes its tag say nothing. */
export function fullImageName(image: string): string {
  if (IMAGE_ID.test(image)) return image;
  const { tag, ...name } = partsOf(image);
  if (name.digest !== undefined) return textOf(name);
  return textOf({ ...name, tag: tag ?? 'latest' });
}

/** Why this is no name of an image, in the words of the library that a kubelet asks; undefined when it is one. */
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

/** Registry and repository of a full name, as credentials are kept for: `docker.io/library/nginx`. */
export function repositoryOf(fullName: string): string {
  const { domain, path } = partsOf(fullName);
  return `${domain}/${path}`;
}

/** True for a name that says exactly which bytes it means. */
export function hasDigest(image: string): boolean {
  return image.includes('@') || IMAGE_ID.test(image);
}

/** The names under which to ask for an image, in order: at its registry's mirrors, then at the registry itself. */
export function pullNames(fullName: string, mirrors: Readonly<Record<string, readonly string[]>>): string[] {
  if (IMAGE_ID.test(fullName)) return [fullName];
  const { domain, ...rest } = partsOf(fullName);
  const { path, tag, digest } = rest;
  const end = `${path}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  return [...(ownValue(mirrors, domain) ?? []).map((mirror) => `${mirror}/${end}`), fullName];
}

/** The policy when the spec has none: `Always` for `:latest` and no tag, else `IfNotPresent` (v1 SetDefaults_Container). */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  if (hasDigest(image)) return 'IfNotPresent';
  return (partsOf(image).tag ?? 'latest') === 'latest' ? 'Always' : 'IfNotPresent';
}
