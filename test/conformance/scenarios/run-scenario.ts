/** Runs one scenario: each step acts, then its expectations are checked until all hold at once, and then once more. */
import { pause } from '../../harness/basics/wait-until.js';
import { requireCaseKeys, requireKeys, type Verdict } from '../tables/conformance-table.js';
import type { ActionOutcome } from './action-context.js';
import { takeSnapshot } from './cluster-snapshot.js';
import { COMMAND_CHECKS } from './command-checks.js';
import { ConformanceFleet } from './conformance-fleet.js';
import { type DaemonSetShorthand, NODE_KEYS, type Scenario, type Step } from './conformance-scenario.js';
import { SET_CHECKS } from './daemonset-checks.js';
import { POD_CHECKS } from './pod-checks.js';
import { ACTIONS } from './scenario-actions.js';
import type { Check, ExpectationContext } from './scenario-check.js';
import { StepRecording } from './step-recording.js';

const CHECKS: Readonly<Record<string, Check>> = { ...POD_CHECKS, ...SET_CHECKS, ...COMMAND_CHECKS };
/** Keys in `expect` that are not checks. */
const PROSE = ['note', 'within'];
const DEFAULT_WITHIN_SECONDS = 60;
const LOOK_AGAIN_MS = 2000;
const LOOK_EVERY_MS = 200;

/** Throws for anything that the runner does not support, before it starts anything. */
function requireKnown(scenario: Scenario): void {
  requireCaseKeys(scenario, ['nodes', 'steps'], ['allSteps']);
  for (const node of scenario.nodes) requireKeys(node, NODE_KEYS, 'a node');
  for (const {
    do: { action, ...parameters },
    expect,
    ...rest
  } of scenario.steps) {
    requireKeys(rest, ['note'], 'a step');
    const known = ACTIONS[action];
    if (!known) throw new Error(`unknown action ${action}`);
    requireKeys(parameters, known.keys, action);
    requireKeys(expect, [...PROSE, ...Object.keys(CHECKS)], 'expect');
  }
}

/** Images of all sets with `podsReady: false`, including later updates. */
function unreadyImages({ steps }: Scenario): string[] {
  const sets = steps.map((step) => step.do.daemonSet as DaemonSetShorthand | undefined);
  const images = sets.filter((set) => set?.podsReady === false).map((set) => set?.image ?? '');
  if (images.length === 0) return [];
  return [...images, ...steps.map((step) => step.do.image).filter((image) => typeof image === 'string')];
}

function failures(
  expect: Record<string, unknown>,
  look: ExpectationContext,
): Record<string, unknown> | undefined {
  const failed: Record<string, unknown> = {};
  for (const [key, expected] of Object.entries(expect)) {
    const result = CHECKS[key]?.(expected, look);
    if (result) failed[key] = { expected, got: result.got };
  }
  return Object.keys(failed).length > 0 ? failed : undefined;
}

class ScenarioRun {
  readonly #fleet: ConformanceFleet;
  #firstSet: string | undefined;

  constructor(fleet: ConformanceFleet) {
    this.#fleet = fleet;
  }

  /** Returns the failed expectations, or undefined. */
  async step({ do: { action, ...parameters }, expect }: Step): Promise<Record<string, unknown> | undefined> {
    const before = await takeSnapshot(this.#fleet.api);
    const recording = await StepRecording.start(this.#fleet.api, before);
    try {
      const context = { fleet: this.#fleet, set: this.#firstSet ?? '', parameters };
      const outcome = (await ACTIONS[action]?.run(context)) ?? {};
      this.#firstSet ??= outcome.set;
      return await this.#look(expect, { before, recording, outcome });
    } finally {
      recording.close();
    }
  }

  async #look(
    expect: Record<string, unknown>,
    parts: Pick<ExpectationContext, 'before' | 'recording' | 'outcome'>,
  ): Promise<Record<string, unknown> | undefined> {
    const set = (parts.outcome as ActionOutcome).set ?? this.#firstSet ?? '';
    const lookNow = async () => failures(expect, { ...parts, set, now: await takeSnapshot(this.#fleet.api) });
    const within = Number(expect.within ?? DEFAULT_WITHIN_SECONDS) * 1000;
    const deadline = performance.now() + within;
    let failed = await lookNow();
    while (failed && performance.now() < deadline) {
      await pause(LOOK_EVERY_MS);
      failed = await lookNow();
    }
    if (failed || Object.keys(expect).length === 0) return failed;
    await pause(LOOK_AGAIN_MS);
    return lookNow();
  }
}

/** Runs the case on a new coordinator. */
export async function runScenario(scenario: Scenario): Promise<Verdict> {
  requireKnown(scenario);
  const fleet = await ConformanceFleet.start({
    nodes: scenario.nodes,
    unreadyImages: unreadyImages(scenario),
  });
  try {
    const run = new ScenarioRun(fleet);
    for (const [index, step] of scenario.steps.entries()) {
      const failed = await run.step(step);
      if (failed) return { passed: false, got: { step: index + 1, do: step.do, failed } };
    }
    return { passed: true, got: undefined };
  } finally {
    await fleet.stop();
  }
}
