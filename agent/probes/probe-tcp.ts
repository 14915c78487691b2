/** tcpSocket of probes (pkg/probe/tcp): succeeds when a connection opens. */
import { connect } from 'node:net';
import type { Handler } from '../../shared/kube/pods/probe-types.js';
import type { ProbeResult } from '../decisions/probes/probe-state.js';
import { dialErrorMessage, hostAndPort, type ProbeTarget, portNumber } from './probe-target.js';

/** Opens a connection and closes it. An error becomes a failed probe with its message. Throws like `portNumber`. */
export function probeTcp(
  action: NonNullable<Handler['tcpSocket']>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<ProbeResult> {
  const host = action.host || target.podIP;
  const port = portNumber(action.port, target);
  const where = hostAndPort(host, port);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (result: ProbeResult): void => {
      // Like upstream, sends RST instead of FIN, so that the host does not collect sockets in TIME_WAIT.
      socket.resetAndDestroy();
      resolve(result);
    };
    const onLate = (): void => end({ kind: 'failure', message: `dial tcp ${where}: i/o timeout` });
    AbortSignal.timeout(timeoutMs).addEventListener('abort', onLate, { once: true });
    socket.once('connect', () => end({ kind: 'success' }));
    socket.once('error', (error) => end({ kind: 'failure', message: dialErrorMessage(error, where) }));
  });
}
