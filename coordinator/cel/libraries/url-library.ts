/** URLs (k8s.io/apiserver pkg/cel/library/urls.go). */
import { CelError } from '../language/cel-error.js';
import { type CelOpaque, type CelValue, LiteralMap } from '../language/cel-value.js';
import { type Overload, overload, traversalOf } from '../language/overload.js';

class ParsedUrl implements CelOpaque {
  readonly opaque = 'kubernetes.URL';
  constructor(
    readonly equalityKey: string,
    readonly scheme: string,
    readonly host: string,
    readonly path: string,
    readonly query: string,
  ) {}
}

/** An absolute URI, or an absolute path (Go's ParseRequestURI). */
const URL_FORM = /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*))?(\/[^?#]*)?(?:\?(.*))?$/;

/** Returns undefined for a text that Go's ParseRequestURI refuses. */
export function parseUrl(text: string): ParsedUrl | undefined {
  const match = URL_FORM.exec(text);
  const [, scheme = '', authority = '', path = '', query = ''] = match ?? [];
  if (!match || (scheme === '' && path === '') || /[\s\p{Cc}]/u.test(text)) return undefined;
  const host = authority.replace(/^.*@/, '');
  const isHost = /^(\[[0-9A-Fa-f:.%\w]+\]|[^:\s[\]]*)(:\d*)?$/.test(host);
  return isHost ? new ParsedUrl(text, scheme.toLowerCase(), host, path, query) : undefined;
}

function urlOf(text: CelValue | undefined): ParsedUrl {
  const url = parseUrl(text as string);
  if (url) return url;
  throw new CelError(
    `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
  );
}

/** Escapes what is not escaped yet. */
function escaped(path: string): string {
  return path.replace(/[^\w\-.~!$&'()*+,;=:@%/]/gu, encodeURIComponent);
}

function queryOf({ query }: ParsedUrl): CelValue {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query))
    values.set(name, [...(values.get(name) ?? []), value]);
  return new LiteralMap(values);
}

const partOf =
  (read: (url: ParsedUrl) => CelValue): Overload['call'] =>
  ([url]) =>
    read(url as ParsedUrl);

export const URLS: readonly Overload[] = [
  overload('url(string): URL', ([text]) => urlOf(text), traversalOf(0)),
  // Upstream charges isURL like a comparison, unlike url (k8s.io/apiserver pkg/cel/library/cost.go).
  overload('isURL(string): bool', ([text]) => parseUrl(text as string) !== undefined),
  overload(
    'URL.getScheme(): string',
    partOf(({ scheme }) => scheme),
  ),
  overload(
    'URL.getHost(): string',
    partOf(({ host }) => host),
  ),
  overload(
    'URL.getHostname(): string',
    partOf(({ host }) => host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1')),
  ),
  overload(
    'URL.getPort(): string',
    partOf(({ host }) => /:(\d+)$/.exec(host)?.[1] ?? ''),
  ),
  overload(
    'URL.getEscapedPath(): string',
    partOf(({ path }) => escaped(path)),
  ),
  overload('URL.getQuery(): map<string, list<string>>', partOf(queryOf)),
];
