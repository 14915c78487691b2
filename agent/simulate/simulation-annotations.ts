/** Annotations of a Pod that define how its simulated containers behave. */
import { controllerOf } from '../../shared/kube/objects/meta.js';
import type { Pod } from '../../shared/kube/pods/pod-types.js';
import type { ImageBehaviour } from '../runtime/hollow/image-behaviours.js';
import { parseNodeQuery, type QueriedNode } from './node-query.js';

/** Prefix of all annotations for simulations. */
export const SIMULATION_PREFIX = 'simulate.everynode.dev/';
/** The containers of a Job or DaemonJob succeed after this time, because programs of Jobs end. */
const JOB_ENDS_AFTER_MS = 1_000;
const JOB_KINDS: ReadonlySet<string | undefined> = new Set(['Job', 'DaemonJob']);
const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** The host that a Pod runs on, and the speed of the simulation. */
interface SimulationContext {
  node: QueriedNode;
  speed: number;
  /** The host has rebooted since the Pod started. */
  isRebooted: boolean;
}

/**
 * Returns how a Pod's containers and pulls behave, or undefined if nothing says so. Ignores invalid annotations: a
 * manifest is never rejected for them (`simulationAnnotationErrors` warns).
 */
export function simulatedBehaviour(
  pod: Pod,
  { node, speed, isRebooted }: SimulationContext,
): ImageBehaviour | undefined {
  const annotations = pod.metadata.annotations ?? {};
  const ofJob = JOB_KINDS.has(controllerOf(pod.metadata)?.kind);
  if (!ofJob && !Object.keys(annotations).some((key) => key.startsWith(SIMULATION_PREFIX))) return undefined;
  const text = (name: string): string | undefined => annotations[SIMULATION_PREFIX + name];
  const duration = (name: string): number | undefined => {
    const ms = durationMs(text(name));
    return ms === undefined ? undefined : ms / speed;
  };
  const readyAfter = duration('ready-after');
  const waitsForReboot = text('fail-after-reboot') === 'true' && !isRebooted;
  const jobExit = ofJob ? { afterMs: JOB_ENDS_AFTER_MS / speed, code: 0 } : undefined;
  const exit = exitOf(text, duration, !waitsForReboot && isMeant(text('fail-on'), node)) ?? jobExit;
  const pull = pullOf(text('pull') === 'fail', duration('pull-time'));
  return {
    ...(readyAfter === undefined ? {} : { ready: { afterMs: readyAfter } }),
    ...(exit ? { exit } : {}),
    ...(pull ? { pull } : {}),
  };
}

/** Returns whether the Pod takes its host offline while one of its containers runs. */
export function cutsLink({ metadata }: Pod): boolean {
  return metadata.annotations?.[`${SIMULATION_PREFIX}cut-link`] === 'true';
}

/** Parses `1h2m3.5s` or `500ms` as milliseconds. Returns undefined for anything else. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * MS[unit as keyof typeof MS], 0);
}

/** A crash has precedence over a planned exit. `fail-on` or `fail-after-reboot` alone means a crash at once. */
function exitOf(
  text: (name: string) => string | undefined,
  duration: (name: string) => number | undefined,
  meant: boolean,
): ImageBehaviour['exit'] {
  const code = Number.parseInt(text('exit-code') ?? '', 10);
  const failAfter = duration('fail-after');
  const asks = ['fail-on', 'fail-after-reboot'].some((name) => text(name) !== undefined);
  const fails = text('fail') === 'true' || failAfter !== undefined || asks;
  if (fails && meant) return { afterMs: failAfter ?? 0, code: code || 1 };
  const exitAfter = duration('exit-after');
  return exitAfter === undefined ? undefined : { afterMs: exitAfter, code: code || 0 };
}

function isMeant(failOn: string | undefined, node: QueriedNode): boolean {
  if (failOn === undefined) return true;
  try {
    return parseNodeQuery(failOn)(node);
  } catch {
    // An invalid query selects no node.
    return false;
  }
}

function pullOf(fails: boolean, afterMs: number | undefined): ImageBehaviour['pull'] {
  if (!fails && afterMs === undefined) return undefined;
  const error = {
    reason: 'ErrImagePull',
    message: "simulated failure: the Pod's annotation asks for a failing pull",
  };
  return { ...(afterMs === undefined ? {} : { afterMs }), ...(fails ? { error } : {}) };
}
