/** Addresses of container engines, and causes of failed connections to them. */

/** A Unix socket or a TCP port. */
export type EngineAddress = { socketPath: string } | { host: string; port: number };

/** Returns the socket's path or `HOST:PORT`. */
export function addressText(address: EngineAddress): string {
  return 'socketPath' in address ? address.socketPath : `${address.host}:${address.port}`;
}

/** Causes of connection errors by error code, with advice for the operator. */
const PROBLEMS: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'the socket does not exist (start the engine)'],
  ['EACCES', 'permission denied (join its group, or run as root)'],
  ['ECONNREFUSED', 'no engine listens there (start it)'],
  ['ECONNRESET', 'the engine closed the connection'],
  ['EPIPE', 'the engine closed the connection'],
]);

/** Returns why a request to the engine got no response. */
export function connectionProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'no response in time';
  return PROBLEMS.get(Reflect.get(error, 'code')) ?? error.message;
}
