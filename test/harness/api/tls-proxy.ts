/** A reverse proxy that terminates TLS, so that the server behind it sees no client certificate. */
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { connect, createServer, type TlsOptions } from 'node:tls';

interface TlsProxy {
  port: number;
  /** Returns all data that clients sent through the proxy. */
  heard(): string;
}

/** Forwards to `target`. Without a target it only listens. */
export async function tlsProxy(
  context: TestContext,
  tls: Pick<TlsOptions, 'cert' | 'key'>,
  target?: { port: number; ca: string },
): Promise<TlsProxy> {
  let heard = '';
  const server = createServer(tls, (near) => {
    near.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    near.on('error', () => near.destroy());
    if (!target) return;
    const far = connect({ host: '127.0.0.1', port: target.port, ca: target.ca });
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}
