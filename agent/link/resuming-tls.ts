/** TLS to one server with session resumption, which halves the cost of a reconnect for both ends. */
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls';

/** Replaces `tls.connect`; may end a connection before anything was sent. */
type Dial = (options: ConnectionOptions) => TLSSocket;

export class ResumingTls {
  readonly #context: SecureContext | undefined;
  readonly #dial: Dial;
  #session: Buffer | undefined;
  /** The certificate and authorities of the stored session. */
  #identity: Pick<ConnectionOptions, 'cert' | 'ca'> = {};

  /** `context`: parsed certificates; absent: those of each connection's options. */
  constructor(context?: SecureContext, dial: Dial = connect) {
    this.#context = context;
    this.#dial = dial;
  }

  /** Replaces `tls.connect`. A server that no longer knows the ticket makes a full handshake. */
  connect(options: ConnectionOptions): TLSSocket {
    if (!this.#isSame(options)) this.#session = undefined;
    this.#identity = { cert: options.cert, ca: options.ca };
    const socket = this.#dial({
      ...options,
      // https sets `path` to the URL's path, which tls would use as a Unix socket.
      path: undefined,
      servername: options.servername ?? (isIP(options.host ?? '') ? '' : (options.host ?? '')),
      ...(this.#context ? { secureContext: this.#context } : {}),
      ...(this.#session ? { session: this.#session } : {}),
    });
    socket.on('session', (ticket) => {
      // Store tickets of trusted servers only: a resumed session is not verified again.
      if (!socket.destroyed && this.#isSame(options)) this.#session = ticket;
    });
    return socket;
  }

  #isSame({ cert, ca }: ConnectionOptions): boolean {
    return cert === this.#identity.cert && ca === this.#identity.ca;
  }
}
