/** TLS to one server: with the ticket of the last connection the next one costs both ends about half. */
import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls';

/** In the place of `tls.connect`: may end a connection before anything was sent. */
type Dial = (options: ConnectionOptions) => TLSSocket;

export class ResumingTls {
  readonly #context: SecureContext | undefined;
  readonly #dial: Dial;
  #session: Buffer | undefined;
  /** Whose session it is, and who was trusted when it was made. */
  #identity: Pick<ConnectionOptions, 'cert' | 'ca'> = {};

  /** `context`: certificates that were parsed before; absent = those of each connection's options. */
  constructor(context?: SecureContext, dial: Dial = connect) {
    this.#context = context;
    this.#dial = dial;
  }

  /** In the place of `tls.connect`. A server that does not know the ticket any more makes a session anew. */
  connect(options: ConnectionOptions): TLSSocket {
    if (!this.#isSame(options)) this.#session = undefined;
    this.#identity = { cert: options.cert, ca: options.ca };
    const socket = this.#dial({
      ...options,
      // What https calls a path would be a unix socket here.
      path: undefined,
      servername: options.servername ?? (isIP(options.host ?? '') ? '' : (options.host ?? '')),
      ...(this.#context ? { secureContext: this.#context } : {}),
      ...(this.#session ? { session: this.#session } : {}),
    });
    socket.on('session', (ticket) => {
      // Only of a server that was trusted: whoever resumes it is believed.
      if (!socket.destroyed && this.#isSame(options)) this.#session = ticket;
    });
    return socket;
  }

  #isSame({ cert, ca }: ConnectionOptions): boolean {
    return cert === this.#identity.cert && ca === this.#identity.ca;
  }
}
