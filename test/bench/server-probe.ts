/**
 * Loaded into a server beside its own code (`node --import`), the product's and the floor's alike: tells over a unix
 * socket what the process costs. Idle until asked.
 */
import { createServer } from 'node:net';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/** Path of the socket. */
export const PROBE_VARIABLE = 'EVERYNODE_BENCH_PROBE';

const RESOLUTION_MS = 5;

export type Question = 'cpu' | 'memory' | 'startLoop' | 'stopLoop';

export interface Answer {
  /** Spent by all threads since the process began. */
  cpuMs: number;
  /** After a collection of garbage, for `memory`: of the process, and of its objects and their buffers. */
  rssBytes?: number;
  usedBytes?: number;
  /** How late timers came since `startLoop`, ms, and of how many this was seen; for `stopLoop`. */
  loopP99Ms?: number;
  loopSamples?: number;
}

let loop: IntervalHistogram | undefined;

function answer(question: Question): Answer {
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1000;
  switch (question) {
    case 'cpu':
      return { cpuMs };
    case 'memory':
      return { cpuMs, ...memoryAfterCollection() };
    case 'startLoop':
      loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      loop.enable();
      return { cpuMs };
    case 'stopLoop':
      loop?.disable();
      // The histogram holds the time from one timer to the next.
      return {
        cpuMs,
        loopP99Ms: Math.max((loop?.percentile(99) ?? 0) / 1e6 - RESOLUTION_MS, 0),
        loopSamples: loop?.count ?? 0,
      };
  }
}

function memoryAfterCollection(): Pick<Answer, 'rssBytes' | 'usedBytes'> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rssBytes: rss, usedBytes: heapUsed + external };
}

const path = process.env[PROBE_VARIABLE];
if (path && isMainThread) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => socket.end(JSON.stringify(answer(String(bytes) as Question))));
  });
  server.listen(path);
  server.unref();
}
