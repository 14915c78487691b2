/**
 * The addresses of clients whose connections another coordinator forwards. Limits, logs and the hub read a socket's
 * `remoteAddress`, which would be the address of that coordinator.
 */
import type { Socket } from 'node:net';

export class ForwardedPeers {
  /** Addresses of clients, by connection. Node offers no way from a TLS socket to the socket below it. */
  readonly #clients = new Map<string, string>();

  /** Makes the client's address that of the socket. */
  add(socket: Socket, client: string): void {
    const connection = connectionOf(socket);
    this.#clients.set(connection, client);
    socket.once('close', () => this.#clients.delete(connection));
    setRemoteAddress(socket, client);
  }

  /** Makes the client's address that of the TLS socket on the connection. */
  apply(socket: Socket): void {
    if (this.#clients.size === 0) return;
    const client = this.#clients.get(connectionOf(socket));
    if (client !== undefined) setRemoteAddress(socket, client);
  }
}

/** Returns a key that is equal for a connection and for the TLS socket on it. */
function connectionOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

function setRemoteAddress(socket: Socket, address: string): void {
  Object.defineProperty(socket, 'remoteAddress', { value: address });
}
