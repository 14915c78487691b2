/** Watches over chunked HTTP: one JSON line per event. A line is encoded once for all watchers. */
import type { Writable } from 'node:stream';
import { ApiError } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { every } from '../../../shared/process/time/clock.js';
import type { TimeSlice } from '../../../shared/process/time/time-slice.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import type { ObjectRecord, RegistryWatch, WatchEvent } from '../../registry/registry.js';
import { concatPieces, inChunks, ReaderStalled, writePaced } from '../http/paced-writer.js';
import { statusOf } from '../http/status-response.js';
import type { WatchCoalescer } from '../limits/watch-coalescer.js';
import type { ObjectView } from './object-response.js';
import {
  columnDefinitions,
  metaApiVersion,
  partialObject,
  TABLE_END,
  tableRow,
  tableStart,
} from './object-table.js';

const BOOKMARK_INTERVAL_MS = 60_000;
/** The last bookmark is sent this long before the timeout (cacher `nextBookmarkTime`). */
const BOOKMARK_BEFORE_END_MS = 2_000;
/** meta/v1 `InitialEventsAnnotationKey`. */
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

type ChangeType = Exclude<WatchEvent<KubeObject>['type'], 'BOOKMARK'>;

const LINE_END = Buffer.from('}\n');

/**
 * Encoded lines by record, because all watchers of a change get the same record. Held weakly: a line is as large as the
 * object, and the record lives as long as its change is in the store's log.
 */
const LINES = new WeakMap<ObjectRecord, WeakRef<Map<ChangeType, Buffer>>>();

function objectLine(type: ChangeType, record: ObjectRecord): Buffer {
  const lines = LINES.get(record)?.deref() ?? new Map<ChangeType, Buffer>();
  const known = lines.get(type);
  if (known) return known;
  const start = Buffer.from(`{"type":"${type}","object":`);
  const line = concatPieces([start, record.copyableBytes?.() ?? record.bytes(), LINE_END]);
  if (lines.size === 0) LINES.set(record, new WeakRef(lines));
  lines.set(type, line);
  return line;
}

/** Encodes the lines of one watcher. Stateful: only the first Table of a stream contains the column definitions. */
class LineEncoder {
  #columns: string;

  constructor(
    private readonly kind: Kind,
    private readonly view: Omit<ObjectView, 'now'>,
    private readonly clock: Clock,
  ) {
    this.#columns = columnDefinitions(kind);
  }

  change(type: ChangeType, record: ObjectRecord): Buffer | string {
    switch (this.view.form) {
      case 'object':
        return objectLine(type, record);
      case 'metadata':
        return `{"type":"${type}","object":${partialObject(record, this.view)}}\n`;
      case 'table': {
        const row = tableRow(this.kind, record, { ...this.view, now: this.clock.now() });
        return `{"type":"${type}","object":${this.#table(record.revision, row)}}\n`;
      }
    }
  }

  /** `initialEnd`: the bookmark at the end of a watch-list's initial events. */
  bookmark(revision: number, initialEnd: boolean): string {
    const resourceVersion = String(revision);
    const annotations = initialEnd ? { annotations: { [INITIAL_EVENTS_END]: 'true' } } : {};
    const metadata = { resourceVersion, ...annotations };
    const whole = { kind: this.kind.kind, apiVersion: apiVersionOf(this.kind), metadata };
    const partial = { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion(this.view), metadata };
    switch (this.view.form) {
      case 'object':
        return `{"type":"BOOKMARK","object":${JSON.stringify(whole)}}\n`;
      case 'metadata':
        return `{"type":"BOOKMARK","object":${JSON.stringify(partial)}}\n`;
      case 'table': {
        const row = JSON.stringify({ cells: [], object: partial });
        return `{"type":"BOOKMARK","object":${this.#table(revision, row)}}\n`;
      }
    }
  }

  #table(revision: number, row: string): string {
    const columns = this.#columns;
    this.#columns = '[]';
    return `${tableStart({ resourceVersion: String(revision) }, columns, this.view)}${row}${TABLE_END}`;
  }
}

interface WatchStreamOptions {
  kind: Kind;
  view: Omit<ObjectView, 'now'>;
  /** The revision that the client has; 0 if the watch starts with initial events. */
  startRevision: number;
  /**
   * `allowWatchBookmarks`: send a bookmark each minute and shortly before the timeout, so that the client resumes from
   * a recent revision. The bookmark after initial events is always sent.
   */
  bookmarks: boolean;
  /** The stream ends without an error after this time. */
  timeoutMs: number;
  /** Time without progress after which a slow reader's connection is closed. */
  stallMs: number;
  /** Shared by all long responses. */
  slice: TimeSlice;
  /** Shared by all watches. */
  rest: WatchCoalescer;
  clock: Clock;
  log: Logger;
  /** Called once, when the initial events have been written. */
  onInitialEnd: () => void;
}

function* linesOf(
  batch: readonly WatchEvent<KubeObject>[],
  encoder: LineEncoder,
): Generator<Buffer | string> {
  for (const event of batch) {
    if (event.type !== 'BOOKMARK') yield encoder.change(event.type, event.record);
    else if (event.initialEnd) yield encoder.bookmark(event.revision, true);
  }
}

/**
 * Returns the revision up to which the client has everything after reading `batch`; 0 if unknown. Initial events are
 * sorted by key, so their revisions are meaningless until a bookmark ends them.
 */
function progressAfter(batch: readonly WatchEvent<KubeObject>[], before: number): number {
  return batch.reduce((revision, event) => {
    if (event.type === 'BOOKMARK') return event.revision;
    return revision > 0 ? Math.max(revision, event.record.revision) : 0;
  }, before);
}

/** Calls `send` each minute and shortly before the timeout. Returns a function that cancels both. */
function scheduleBookmarks(clock: Clock, timeoutMs: number, send: () => void): () => void {
  const stop = every(clock, BOOKMARK_INTERVAL_MS, send);
  if (timeoutMs <= BOOKMARK_BEFORE_END_MS) return stop;
  const last = clock.after(timeoutMs - BOOKMARK_BEFORE_END_MS, send);
  return () => {
    stop();
    last.cancel();
  };
}

/**
 * Writes events until `signal` aborts, the timeout passes, or the watch ends. An error of the watch (410 Expired) is
 * sent as an ERROR event. Never throws. The caller ends the response.
 */
export async function streamWatch(
  response: Writable,
  watch: RegistryWatch<KubeObject>,
  signal: AbortSignal,
  options: WatchStreamOptions,
): Promise<void> {
  const { kind, view, startRevision, bookmarks, timeoutMs, stallMs, slice, rest, clock, log } = options;
  const encoder = new LineEncoder(kind, view, clock);
  let progress = startRevision;
  const close = () => watch.close();
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  const timer = clock.after(timeoutMs, close);
  const stopBookmarks = scheduleBookmarks(clock, timeoutMs, () => {
    const mayWrite = bookmarks && progress > 0 && !response.writableNeedDrain;
    if (mayWrite) response.write(encoder.bookmark(progress, false));
  });
  try {
    for await (const batch of watch) {
      for await (const chunk of inChunks(linesOf(batch, encoder), slice)) {
        await writePaced(response, chunk, clock, stallMs);
      }
      progress = progressAfter(batch, progress);
      if (batch.some((event) => event.type === 'BOOKMARK')) options.onInitialEnd();
      await rest.afterWrite(batch.length);
    }
  } catch (error) {
    if (error instanceof ReaderStalled)
      log.info({ resource: kind.resource }, 'closed a watch whose reader does not read');
    else response.write(`{"type":"ERROR","object":${JSON.stringify(statusOf(error, log))}}\n`);
  } finally {
    timer.cancel();
    stopBookmarks();
    signal.removeEventListener('abort', close);
    watch.close();
  }
}

/** Returns `sendInitialEvents`; undefined if absent. Throws 422 if the parameters of a watch-list are inconsistent. */
export function checkInitialEvents(query: URLSearchParams): boolean | undefined {
  const wanted = query.get('sendInitialEvents');
  if (wanted === null) {
    if (query.get('resourceVersionMatch')) {
      throw forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      );
    }
    return undefined;
  }
  if (query.get('resourceVersionMatch') !== 'NotOlderThan') {
    throw forbidden(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  }
  return wanted !== 'false' && wanted !== '0';
}

function forbidden(field: string, detail: string): ApiError {
  const message = `Forbidden: ${detail}`;
  return new ApiError('Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: 'FieldValueForbidden', message, field }],
  });
}
