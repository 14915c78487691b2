/** Default of `imagePullPolicy` (`pkg/util/parsers`). */

const REPOSITORY =
  /^(?:[a-zA-Z0-9._-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;

/**
 * Returns the tag, or `latest` for a name without tag and digest. Returns undefined for a digest without a tag and for
 * an invalid name.
 */
function tagOf(image: string): string | undefined {
  const [name = '', digest] = image.split('@');
  const colon = name.lastIndexOf(':');
  const tagged = colon > name.lastIndexOf('/');
  if (!REPOSITORY.test(tagged ? name.slice(0, colon) : name)) return undefined;
  if (tagged) return name.slice(colon + 1);
  return digest === undefined ? 'latest' : undefined;
}

export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
