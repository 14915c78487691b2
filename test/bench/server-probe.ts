/**
 * Loaded into a server process (`node --import`), the product's and the floor's alike: reports the process's cost over
 * a unix socket. Idle until it gets a request.
 */
import { createServer } from 'node:net';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { CallCounter, CallCounts } from './stages/call-counts.js';

/** Path of the socket. */
export const PROBE_VARIABLE = 'EVERYNODE_BENCH_PROBE';

const RESOLUTION_MS = 5;

export type Question = 'cpu' | 'memory' | 'startLoop' | 'stopLoop' | 'startCounts' | 'readCounts';

export interface Answer {
  /** CPU time of all threads since the process started. */
  cpuMs: number;
  /** For `memory`, after garbage collection: of the process, and of its objects and their buffers. */
  rssBytes?: number;
  usedBytes?: number;
  /** For `stopLoop`: timer delay since `startLoop`, ms, and the number of samples. */
  loopP99Ms?: number;
  loopSamples?: number;
  /** For `readCounts`: calls since `startCounts`. */
  counts?: CallCounts;
}

let loop: IntervalHistogram | undefined;
let counter: CallCounter | undefined;

async function answer(question: Question): Promise<Answer> {
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
      // The histogram contains the time between timers, so the interval is subtracted.
      return {
        cpuMs,
        loopP99Ms: Math.max((loop?.percentile(99) ?? 0) / 1e6 - RESOLUTION_MS, 0),
        loopSamples: loop?.count ?? 0,
      };
    case 'startCounts': {
      // Loaded on demand, because a probe must not change what it does not measure.
      const { CallCounter } = await import('./stages/call-counts.js');
      counter = new CallCounter();
      await counter.start();
      return { cpuMs };
    }
    case 'readCounts':
      return { cpuMs, counts: (await counter?.read()) ?? {} };
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
    socket.on('data', async (bytes) => socket.end(JSON.stringify(await answer(String(bytes) as Question))));
  });
  server.listen(path);
  server.unref();
}
