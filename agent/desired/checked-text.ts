/** Text of a file whose damage is noticed. The first line contains format and checksum of the rest. */
import { createHash } from 'node:crypto';

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function encodeChecked(format: number, content: unknown): string {
  const body = JSON.stringify(content);
  return `${JSON.stringify({ format, sha256: checksum(body) })}\n${body}`;
}

/** Returns the content, which `encodeChecked` has written; undefined for a damaged file or another format. */
export function decodeChecked(format: number, text: string): unknown {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  try {
    const header = JSON.parse(text.slice(0, end)) as { format: number; sha256: string };
    if (header.format !== format || header.sha256 !== checksum(body)) return undefined;
    return JSON.parse(body);
  } catch {
    // Invalid JSON counts as a wrong checksum.
    return undefined;
  }
}
