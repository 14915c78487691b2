/** Bounds the requests that are being worked on, and with them the memory that their bodies and answers take. */
import { ApiError } from '../../shared/kube/status.js';

/** As many as upstream's two limits for reading and changing requests together (`--max-requests-inflight`). */
export const MAX_IN_FLIGHT = 600;

export class InFlight {
  #count = 0;

  constructor(private readonly limit: number = MAX_IN_FLIGHT) {}

  /** Takes a place until the answer is called (again does nothing). Throws 429, which clients retry after a second. */
  enter(): () => void {
    if (this.#count >= this.limit) {
      const message = 'too many requests, please try again later';
      throw new ApiError('TooManyRequests', message, { retryAfterSeconds: 1 });
    }
    this.#count += 1;
    let left = false;
    return () => {
      if (!left) this.#count -= 1;
      left = true;
    };
  }
}
