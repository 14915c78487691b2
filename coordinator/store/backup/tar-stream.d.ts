/** Types of the parts of tar-stream that are used. */
declare module 'tar-stream' {
  import type { Readable, Writable } from 'node:stream';

  export interface Header {
    name: string;
    size?: number;
    mode?: number;
    mtime?: Date;
    type?: string | null;
  }

  export interface Pack extends Readable {
    entry(header: Header, content: string | Buffer, callback: (error?: Error | null) => void): void;
    entry(header: Header, callback: (error?: Error | null) => void): Writable;
    finalize(): void;
  }

  export interface Extract extends Writable {
    on(
      event: 'entry',
      listener: (header: Header, stream: Readable, next: (error?: Error) => void) => void,
    ): this;
    on(event: string, listener: (...args: never[]) => void): this;
  }

  export function pack(): Pack;
  export function extract(): Extract;
}
