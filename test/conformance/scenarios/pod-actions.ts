/** Actions on the Pod of a host: its containers and its labels. */
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { pause, until } from '../../harness/basics/wait-until.js';
import type { ActionContext, ActionOutcome } from './action-context.js';
import { ownerName } from './cluster-snapshot.js';
import type { HollowCommand } from './conformance-fleet.js';

const POD_TIMEOUT_MS = 30_000;
const REPLACEMENT_POLL_MS = 100;

function nodeNameOf({ parameters }: ActionContext): string {
  return String(parameters.node);
}

/** The Pod that an action applies to: the node's Pod without deletionTimestamp. */
async function pickPod(context: ActionContext, wanted: (pod: Pod) => boolean = () => true): Promise<Pod> {
  const node = nodeNameOf(context);
  let picked: Pod | undefined;
  await until(
    async () => {
      picked = (await context.fleet.podsOn(node)).find(wanted);
      return picked !== undefined;
    },
    { timeoutMs: POD_TIMEOUT_MS, what: `a pod on ${node}` },
  );
  if (!picked) throw new Error(`no pod on ${node}`);
  return picked;
}

/**
 * A host learns of a new Pod later than the API's clients do, so the command is repeated until the host has the Pod.
 */
async function commandPod(context: ActionContext, pod: Pod, command: HollowCommand): Promise<void> {
  const isRunning = async () => {
    const pods = await context.fleet.podsOn(nodeNameOf(context));
    const state = pods.find((other) => other.metadata.uid === pod.metadata.uid)?.status;
    return state?.containerStatuses?.[0]?.state?.running !== undefined;
  };
  await until(isRunning, { timeoutMs: POD_TIMEOUT_MS, what: `${pod.metadata.name} to run` });
  await context.fleet.command(nodeNameOf(context), command);
}

/** `makeReady` */
export async function makeReady(context: ActionContext): Promise<ActionOutcome> {
  const pod = await pickPod(context);
  await commandPod(context, pod, { command: 'ready', podUid: pod.metadata.uid ?? '' });
  return {};
}

/** `killContainer` */
export async function exitContainer(context: ActionContext): Promise<ActionOutcome> {
  const pod = await pickPod(context);
  await commandPod(context, pod, { command: 'exit', code: 1, podUid: pod.metadata.uid ?? '' });
  return {};
}

/** `failPod`, `succeedPod`: sets the phase permanently, and also the phase of each replacement if requested. */
export async function keepExiting(
  context: ActionContext,
  command: 'fail' | 'succeed',
): Promise<ActionOutcome> {
  const first = await pickPod(context);
  await commandPod(context, first, { command, podUid: first.metadata.uid ?? '' });
  if (!context.parameters.everyReplacement) return {};
  const done = new Set([first.metadata.uid]);
  const deadline = performance.now() + Number(context.parameters.forSeconds) * 1000;
  while (performance.now() < deadline) {
    for (const pod of await context.fleet.podsOn(nodeNameOf(context))) {
      if (done.has(pod.metadata.uid) || !pod.status?.containerStatuses?.[0]?.state?.running) continue;
      done.add(pod.metadata.uid);
      await context.fleet.command(nodeNameOf(context), { command, podUid: pod.metadata.uid ?? '' });
    }
    await pause(REPLACEMENT_POLL_MS);
  }
  return {};
}

/** `labelPod` */
export async function labelPod(context: ActionContext): Promise<ActionOutcome> {
  const { labels, which } = context.parameters;
  if (which !== undefined && which !== 'released') throw new Error(`which: unknown value ${String(which)}`);
  const pod = await pickPod(context, (one) => which === undefined || ownerName(one) === null);
  const changes = Object.entries(labels as Record<string, string | null>).map(([key, value]) =>
    value === null ? `${key}-` : `${key}=${value}`,
  );
  const args = ['label', '--overwrite', 'pod', pod.metadata.name, ...changes];
  const { code, stdout, stderr } = await context.fleet.kubectl.run(args);
  return { exitCode: code, output: stdout + stderr };
}
