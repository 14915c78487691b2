/** Watches and logs over a WebSocket instead of a response body (`STREAM_PROTOCOL`), for browsers. */
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

/**
 * Resolves with a function that serves the connection until it ends. Throws the errors of the same GET, and 400 for a
 * request that is neither a watch nor a log.
 */
export async function serveStream(
  deps: ApiDeps & { resources: ResourceTable },
  sockets: UpgradedSockets,
  upgrade: UpgradeRequest,
  identity: Identity,
): Promise<() => Promise<void>> {
  const ignore = () => undefined;
  const { info, signal } = upgrade;
  // Rejected before it runs, because upgraded requests have no in-flight limit and no timeout.
  if (!isLongRunning(info)) throw noStream();
  const answer = await dispatchRequest(deps.resources, deps, {
    info,
    user: identity.user,
    limitKey: limitKeyOf(identity),
    headers: {},
    acceptsGzip: false,
    signal,
    warn: ignore,
    onCreated: ignore,
    annotate: ignore,
    onDryRun: ignore,
    onChange: ignore,
  });
  const write = writerOf(answer);
  return async () => {
    // A started response must be read to its end, even if the client is gone.
    const stream = await sockets.acceptStream(upgrade).catch(() => new PassThrough().destroy());
    try {
      await write(stream);
      stream.end();
    } catch (error) {
      stream.destroy();
      // The host or the client has disconnected. The response ends early, like over HTTP.
      if (!(error instanceof StreamError || error instanceof ReaderStalled)) throw error;
    }
  };
}

type Write = Extract<ApiResponse, { type: 'stream' }>['write'];

function writerOf(answer: ApiResponse): Write {
  if (answer.type === 'stream') return answer.write;
  // The log of a Pod without a node.
  if (answer.type === 'text') return async (stream) => void stream.write(answer.text);
  throw noStream();
}

function noStream(): ApiError {
  return badRequest('only watches and logs can be streamed over WebSocket');
}
