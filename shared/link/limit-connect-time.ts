/** A limit of the time of a connection. */
import type { Socket } from 'node:net';
import type { Clock } from '../process/time/clock.js';

/**
 * Destroys the socket unless its TCP connection is established in time, or with `secureConnect` its TLS connection.
 * Absent timeout: no limit. Returns the socket.
 */
export function limitConnectTime<S extends Socket>(
  socket: S,
  clock: Clock,
  timeoutMs: number | undefined,
  end: 'connect' | 'secureConnect' = 'connect',
): S {
  if (timeoutMs === undefined) return socket;
  const missing = end === 'connect' ? 'connection' : 'TLS connection';
  const timer = clock.after(timeoutMs, () =>
    socket.destroy(new Error(`no ${missing} within ${timeoutMs / 1000} s`)),
  );
  for (const event of [end, 'secureConnect', 'close']) socket.once(event, () => timer.cancel());
  return socket;
}
