/** A process of watchers that only count lines: it reports once all watches are open, and once all lines are read. */
import { Agent, request } from 'node:https';

export interface WatchersOrder {
  url: string;
  ca: string;
  headers: Record<string, string>;
  watchers: number;
  /** Number of lines for all watchers together. */
  lines: number;
}

const NEWLINE = 10;

process.on('message', ({ url, ca, headers, watchers, lines }: WatchersOrder) => {
  let opened = 0;
  let read = 0;
  for (let watcher = 0; watcher < watchers; watcher += 1) {
    const sent = request(url, { ca, headers, agent: new Agent() }, (response) => {
      opened += 1;
      if (opened === watchers) process.send?.('watching');
      response.on('data', (chunk: Buffer) => {
        for (const byte of chunk) if (byte === NEWLINE) read += 1;
        if (read >= lines) process.send?.('read');
        if (read >= lines) read = Number.NEGATIVE_INFINITY;
      });
    });
    sent.end();
  }
});
