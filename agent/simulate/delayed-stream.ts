/** A connection that delays each byte in both directions. */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../shared/process/time/clock.js';

export class DelayedStream extends Duplex {
  readonly #wire: Socket;
  readonly #later: (action: () => void) => void;

  constructor(wire: Socket, delayMs: number, clock: Clock) {
    super();
    this.#wire = wire;
    this.#later = (action) => void clock.after(delayMs, action);
    wire.on('data', (bytes: Buffer) => this.#later(() => this.destroyed || this.push(bytes)));
    wire.on('end', () => this.#later(() => this.destroyed || this.push(null)));
    wire.on('error', (error) => this.destroy(error));
    wire.on('close', () => this.#later(() => this.destroy()));
  }

  override _read(): void {
    // Data is pushed as it arrives. A link carries little, so backpressure is not needed.
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#later(() => this.#wire.destroyed || this.#wire.write(bytes));
    done();
  }

  override _final(done: () => void): void {
    this.#later(() => this.#wire.end());
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wire.destroy();
    done(error);
  }
}
