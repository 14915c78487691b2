/**
 * Names of images (distribution/reference ParseNormalizedNamed). The host pulls by them, and the coordinator refuses
 * values of hosts that render an invalid one.
 */

const DEFAULT_DOMAIN = 'docker.io';
/** The id of an image instead of a name. */
export const IMAGE_ID = /^(sha256:)?[0-9a-f]{64}$/;
const PATH_PART = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;
const DOMAIN =
  /^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]+)?$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const MAX_NAME = 255;

export interface ImageName {
  domain: string;
  path: string;
  tag?: string;
  digest?: string;
}

/** Returns true if the first component is a registry instead of a user of Docker Hub. */
function isDomain(part: string): boolean {
  return part.includes('.') || part.includes(':') || part === 'localhost' || part.toLowerCase() !== part;
}

/** Splits a name. The text may be invalid: see `imageNameError`. */
export function imageNameParts(image: string): ImageName {
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

/**
 * Returns why the image name is invalid, with the message of the library that a kubelet uses; undefined if it is valid.
 */
export function imageNameError(image: string): string | undefined {
  if (IMAGE_ID.test(image)) return undefined;
  const { domain, path, tag, digest } = imageNameParts(image);
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
