/** Image names, so that a short one means the same on every engine (distribution/reference ParseNormalizedNamed). */

const DEFAULT_DOMAIN = 'docker.io';
const IMAGE_ID = /^(sha256:)?[0-9a-f]{64}$/;

/** True when the first part of a name is a registry and not a user of the default one. */
function isDomain(part: string): boolean {
  return part.includes('.') || part.includes(':') || part === 'localhost';
}

/** The tag of a name, if it has one; a port of the registry is none. */
function tagOf(name: string): string | undefined {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const colon = last.indexOf(':');
  return colon < 0 ? undefined : last.slice(colon + 1);
}

/** `nginx` as `docker.io/library/nginx:latest`; an image id and a full name stay as they are. */
export function fullImageName(image: string): string {
  if (IMAGE_ID.test(image)) return image;
  const [name = '', digest] = image.split('@');
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const official = slash < 0 ? `library/${name}` : name;
  const named = isDomain(first) ? name : `${DEFAULT_DOMAIN}/${official}`;
  if (digest !== undefined) return `${named}@${digest}`;
  return tagOf(name) === undefined ? `${named}:latest` : named;
}

/** The policy when the spec has none: `Always` for `:latest` and no tag, else `IfNotPresent` (v1 SetDefaults_Container). */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = image.split('@');
  if (digest !== undefined || IMAGE_ID.test(image)) return 'IfNotPresent';
  return (tagOf(name) ?? 'latest') === 'latest' ? 'Always' : 'IfNotPresent';
}
