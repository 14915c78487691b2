/** The stages of a Pod from its creation until it is shown as Ready, and the functions whose calls count them. */
import { type CallCounts, PARSED, PROMISES, STRINGIFIED } from './call-counts.js';

/** `functions`: `FILE#FUNCTION` below the program's folder, as V8 names them, or a built-in. Their calls are added. */
interface Stage {
  readonly name: string;
  readonly functions: readonly string[];
}

const inStore = (name: string) => `coordinator/store/${name}`;
const inRegistry = (name: string) => `coordinator/registry/${name}`;
const inControllers = (name: string) => `coordinator/controllers/${name}`;
const inHub = (name: string) => `coordinator/hub/${name}`;

export const POD_STAGES: readonly Stage[] = [
  { name: 'frames received', functions: ['shared/link/encoding/frame-codec.js#decodeFromAgent'] },
  { name: 'frames sent', functions: [inHub('sessions/agent-socket.js#send')] },
  { name: 'durable rows', functions: [inStore('log/group-commit.js##changeOf')] },
  { name: 'commits', functions: [inStore('log/packed-commit.js#packCommit')] },
  { name: 'Events recorded', functions: [inControllers('events/event-correlator.js#correlate')] },
  { name: 'Events stored', functions: [inRegistry('events/event-store.js##put')] },
  { name: 'values of chunks of Events', functions: [inRegistry('events/event-chunks.js#encodeChunk')] },
  { name: 'reads of a stored value', functions: [inStore('sqlite/sqlite-store.js#get')] },
  { name: 'steps in the tree of keys', functions: [inStore('log/present-values.js#compareKeys')] },
  {
    name: 'objects encoded',
    functions: [
      inRegistry('encoding/object-encoding.js#encodeNewStatus'),
      inRegistry('encoding/object-encoding.js#fill'),
      inRegistry('encoding/object-encoding.js#wholeOf'),
    ],
  },
  { name: 'JSON texts written', functions: [STRINGIFIED] },
  { name: 'JSON texts parsed', functions: [PARSED] },
  { name: 'JSON values copied', functions: [inRegistry('encoding/json-value.js#copyJson')] },
  { name: 'JSON values compared', functions: [inRegistry('encoding/json-value.js#sameJson')] },
  { name: 'changes read by the informers', functions: [inRegistry('reads/follow-kinds.js##told')] },
  { name: 'changes of a cache', functions: ['coordinator/informers/cached-informer.js##replace'] },
  { name: 'calls of informer handlers', functions: ['coordinator/informers/cached-informer.js##call'] },
  { name: 'watch events for clients', functions: [inRegistry('reads/watch-objects.js##eventOf')] },
  { name: 'keys queued', functions: [inControllers('queue/work-queue.js#add')] },
  { name: 'reconciles', functions: [inControllers('queue/work-queue.js#take')] },
  {
    name: 'reconciles of a DaemonSet on a node',
    functions: [inControllers('daemonsets/daemonset-node-reconciler.js#observe')],
  },
  // V8 counts an async function again when it continues, so the stages name functions that are not async.
  { name: 'statuses of Pods reported', functions: [inHub('reports/host-reports.js##ownPod')] },
  { name: 'promises', functions: [PROMISES] },
];

/** Returns the calls of a stage per Pod. */
export function callsPerPod({ functions }: Stage, counts: CallCounts, pods: number): number {
  return functions.reduce((sum, name) => sum + (counts[name] ?? 0), 0) / pods;
}
