/** Streams of bytes inside the link: the reader grants credit, the writer never sends more. */

/** A stream that was refused or broke. `reason` is a Kubernetes status reason (`NotFound`, `BadRequest` …). */
export class StreamError extends Error {
  constructor(
    readonly reason: string,
    message: string,
  ) {
    super(message);
    this.name = 'StreamError';
  }
}
