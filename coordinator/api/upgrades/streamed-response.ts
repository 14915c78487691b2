/** Answers that go on, watches and logs, over a WebSocket instead of as a body: see `STREAM_PROTOCOL`. */
import { PassThrough } from 'node:stream';
import { type ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { StreamError } from '../../../shared/link/streams/byte-stream.js';
import { type Identity, limitKeyOf } from '../auth/auth-filter.js';
import type { ResourceTable } from '../discovery/resource-table.js';
import type { ApiDeps, ApiResponse } from '../http/api-context.js';
import { ReaderStalled } from '../http/paced-writer.js';
import { dispatchRequest } from '../http/request-dispatch.js';
import { isLongRunning } from '../http/request-info.js';
import type { UpgradedSockets, UpgradeRequest } from './upgraded-sockets.js';

/** Resolves with what serves the connection to its end. Throws what the same GET would be refused with, and 400 for one that ends by itself. */
export async function serveStream(
  deps: ApiDeps & { resources: ResourceTable },
  sockets: UpgradedSockets,
  upgrade: UpgradeRequest,
  identity: Identity,
): Promise<() => Promise<void>> {
  const ignore = () => undefined;
  const { info, signal } = upgrade;
  // Not even startedAt: nothing bounds here how many are under way at once, and for how long.
  if (!isLongRunning(info)) throw noStream();
  const answer = await dispatchRequest(deps.resources, deps, {
    info,
    user: identity.user,
    limitKey: limitKeyOf(identity),
    headers: {},
    signal,
    warn: ignore,
    onCreated: ignore,
  });
  const write = writerOf(answer);
  return async () => {
    // What has startedAt must be read to its end, also for nobody.
    const stream = await sockets.acceptStream(upgrade).catch(() => new PassThrough().destroy());
    try {
      await write(stream);
      stream.end();
    } catch (error) {
      stream.destroy();
      // The host or the reader has gone, and the answer breaks off, as by HTTP.
      if (!(error instanceof StreamError || error instanceof ReaderStalled)) throw error;
    }
  };
}

type Write = Extract<ApiResponse, { type: 'stream' }>['write'];

function writerOf(answer: ApiResponse): Write {
  if (answer.type === 'stream') return answer.write;
  // The log of a Pod that has no node yet.
  if (answer.type === 'text') return async (stream) => void stream.write(answer.text);
  throw noStream();
}

function noStream(): ApiError {
  return badRequest('only watches and logs are served so');
}
