/** Serves a page of the kubelet over the link (`shared/link/encoding/kubelet-answer.ts`). */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { encodePage, type PageHead } from '../../shared/link/encoding/kubelet-answer.js';
import type { KubeletStreamRequest } from '../../shared/link/messages/link-messages.js';

interface KubeletPages {
  answer(path: string, query: URLSearchParams): Promise<PageHead & { body: string }>;
}

const compress = promisify(gzip);
/** A smaller page fits in a packet or two. */
const GZIP_FROM_BYTES = 2_048;

/** Resolves with the head and the body. Pages of metrics shrink to a tenth, which a metered link needs. */
export async function openKubeletPage(
  pages: KubeletPages,
  { path, query, gzip: mayCompress }: KubeletStreamRequest,
): Promise<AsyncIterable<Uint8Array>> {
  const { status, contentType, body } = await pages.answer(path, new URLSearchParams(query));
  const bytes = Buffer.from(body);
  if (!mayCompress || bytes.length < GZIP_FROM_BYTES)
    return pieces(encodePage({ status, contentType }, bytes));
  return pieces(encodePage({ status, contentType, encoding: 'gzip' }, await compress(bytes, { level: 1 })));
}

async function* pieces(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}
