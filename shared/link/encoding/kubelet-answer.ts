/** The stream of a kubelet's page: one line of JSON that describes the body, then the body. */
import { integer, oneOf, optional, record } from './schema-combinators.js';

/** A host must not choose other types: the browser of an operator would run a script in HTML with his rights. */
const PAGE_TYPES = [
  'application/json',
  'text/plain; charset=utf-8',
  'text/plain; version=0.0.4; charset=utf-8',
] as const;

export type PageType = (typeof PAGE_TYPES)[number];

export interface PageHead {
  status: number;
  contentType: PageType;
  /** Absent = the body is not compressed. */
  encoding?: 'gzip';
}

const pageHead = record<PageHead>({
  status: integer(200, 599),
  contentType: oneOf(...PAGE_TYPES),
  encoding: optional(oneOf('gzip')),
});

const NEW_LINE = 10;

export function encodePage(head: PageHead, body: Uint8Array): Uint8Array[] {
  return [Buffer.from(`${JSON.stringify(head)}\n`), body];
}

/** Throws `ProtocolError` or SyntaxError if the host sent no page. */
export function decodePage(bytes: Buffer): { head: PageHead; body: Buffer } {
  const end = bytes.indexOf(NEW_LINE);
  const head = pageHead(JSON.parse(bytes.subarray(0, Math.max(end, 0)).toString()), 'page');
  return { head, body: bytes.subarray(end + 1) };
}
