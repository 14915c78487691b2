/** What an image's name says about how to pull it (`pkg/util/parsers`). */

const REPOSITORY =
  /^(?:[a-zA-Z0-9._-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/;

/** The tag; `latest` when there is neither tag nor digest; undefined for a digest alone or a name that is none. */
function tagOf(image: string): string | undefined {
  const [name = '', digest] = image.split('@');
  const colon = name.lastIndexOf(':');
  const tagged = colon > name.lastIndexOf('/');
  if (!REPOSITORY.test(tagged ? name.slice(0, colon) : name)) return undefined;
  if (tagged) return name.slice(colon + 1);
  return digest === undefined ? 'latest' : undefined;
}

/** The default of `imagePullPolicy`. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
