/** A limit of the time of a TCP connection. */
import type { Socket } from 'node:net';
import type { Clock } from '../process/time/clock.js';

/** Destroys the socket unless its TCP connection is established in time. Absent timeout: no limit. Returns the socket. */
export function limitConnectTime<S extends Socket>(
  socket: S,
  clock: Clock,
  timeoutMs: number | undefined,
): S {
  if (timeoutMs === undefined) return socket;
  const timer = clock.after(timeoutMs, () =>
    socket.destroy(new Error(`no connection within ${timeoutMs / 1000} s`)),
  );
  for (const event of ['connect', 'secureConnect', 'close']) socket.once(event, () => timer.cancel());
  return socket;
}
