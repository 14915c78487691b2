/** Floor of a list: prepared bytes, written 200 objects at a time as fast as the reader takes them. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

const POD = Buffer.from(`{"kind":"Pod","metadata":{"name":"${'a'.repeat(2_360)}"}}`);
const AT_A_TIME = 200;

export class PodList {
  readonly #pods: Buffer[] = [];

  async send(count: number, response: ServerResponse): Promise<void> {
    while (this.#pods.length < count) this.#pods.push(Buffer.from(POD));
    response.setHeader('content-type', 'application/json');
    response.write('{"items":[');
    const comma = Buffer.from(',');
    for (let from = 0; from < count; from += AT_A_TIME) {
      const part = this.#pods.slice(from, Math.min(from + AT_A_TIME, count)).flatMap((pod) => [comma, pod]);
      if (!response.write(Buffer.concat(from === 0 ? part.slice(1) : part))) await once(response, 'drain');
    }
    response.end(']}');
  }
}
