/** The tcpSocket of probes (pkg/probe/tcp): a connection that opens is success. */
import { connect } from 'node:net';
import type { Handler } from '../../shared/kube/pods/probe-types.js';
import type { ProbeResult } from '../decisions/probes/probe-state.js';
import { dialErrorMessage, hostAndPort, type ProbeTarget, portNumber } from './probe-target.js';

/** Opens a connection and closes it; one that does not open is a failure with its words. Throws as `portNumber`. */
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
      // RST in the place of FIN, as upstream: no socket of the host lingers in TIME_WAIT.
      socket.resetAndDestroy();
      resolve(result);
    };
    const onLate = (): void => end({ kind: 'failure', message: `dial tcp ${where}: i/o timeout` });
    AbortSignal.timeout(timeoutMs).addEventListener('abort', onLate, { once: true });
    socket.once('connect', () => end({ kind: 'success' }));
    socket.once('error', (error) => end({ kind: 'failure', message: dialErrorMessage(error, where) }));
  });
}
