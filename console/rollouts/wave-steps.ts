/** The waves of a rollout as steps: what is done, what happens now, and what each later wave waits for. Pure. */
import type { RolloutPolicy } from '../../shared/kube/rollouts/rollout-policy-types.js';
import type { RolloutPhase, RolloutStatus } from '../../shared/kube/rollouts/rollout-types.js';
import type { ShownStatus } from '../layout/status/object-status.js';

type Wave = RolloutStatus['waves'][number];

interface WaveStep {
  wave: Wave;
  status: ShownStatus;
  /** True for the last open wave. */
  isCurrent: boolean;
  /** True while the step shows the countdown of its soak time. */
  isSoaking: boolean;
}

const DONE: ShownStatus = { tone: 'ok', word: 'Done' };
const LATER: ShownStatus = { tone: 'over', word: 'Later' };
const NOT_STARTED: ShownStatus = { tone: 'over', word: 'Not started' };
const NEEDS_APPROVAL: ShownStatus = { tone: 'waiting', word: 'Waiting for approval' };

/** The state of the last open wave. */
const CURRENT: Readonly<Record<RolloutPhase, ShownStatus>> = {
  Progressing: { tone: 'progress', word: 'Updating' },
  Soaking: { tone: 'progress', word: 'Soaking' },
  AwaitingApproval: DONE,
  AwaitingWindow: { tone: 'waiting', word: 'Blocked: outside its window' },
  AwaitingHosts: { tone: 'waiting', word: 'Blocked: waiting for hosts' },
  Paused: { tone: 'waiting', word: 'Blocked: paused' },
  Frozen: { tone: 'waiting', word: 'Blocked: frozen' },
  Failed: { tone: 'failed', word: 'Failed' },
  RolledBack: { tone: 'failed', word: 'Rolled back' },
  Completed: DONE,
  Superseded: { tone: 'over', word: 'Superseded' },
};
/** No later wave will open by itself. */
const STOPPED: ReadonlySet<RolloutPhase> = new Set(['Failed', 'RolledBack', 'Superseded']);

export function waveSteps(status: RolloutStatus, policy: RolloutPolicy | undefined): WaveStep[] {
  const { waves, wave: open, phase } = status;
  const at = waves.findIndex(({ name }) => name === open);
  return waves.map((wave, index) => ({
    wave,
    status:
      index < at
        ? pastStep(wave)
        : index === at
          ? CURRENT[phase]
          : laterStep(status, policy, index - at, wave),
    isCurrent: index === at,
    isSoaking: index === at && phase === 'Soaking',
  }));
}

function pastStep({ failed }: Wave): ShownStatus {
  return failed > 0 ? { tone: 'waiting', word: 'Done, with failures' } : DONE;
}

function laterStep(
  { phase, steering }: RolloutStatus,
  policy: RolloutPolicy | undefined,
  distance: number,
  { name }: Wave,
): ShownStatus {
  if (phase === 'Completed') return DONE;
  if (STOPPED.has(phase)) return NOT_STARTED;
  if (phase === 'AwaitingApproval' && distance === 1) return NEEDS_APPROVAL;
  const isManual = policy?.spec.waves?.some((wave) => wave.name === name && wave.approval === 'Manual');
  const isApproved = steering?.approved?.includes(name) ?? false;
  if (!isManual) return LATER;
  return { tone: 'over', word: isApproved ? 'Later, approved' : 'Later, needs an approval' };
}

interface ErrorBudget {
  /** All hosts that failed, also before the period that counts. */
  failed: number;
  limit: number;
  /** Only failures within this period count. Absent: all failures. */
  withinSeconds?: number;
}

/** How many hosts may fail, of how many. Absent without a limit, or without the right to read the policy. */
export function errorBudget(
  { nodes, failed }: Pick<RolloutStatus, 'nodes' | 'failed'>,
  policy: RolloutPolicy | undefined,
): ErrorBudget | undefined {
  const budget = policy?.spec.failureBudget;
  if (!budget) return undefined;
  const { maxFailed = 0, withinSeconds } = budget;
  const share = typeof maxFailed === 'string' ? Number.parseInt(maxFailed, 10) / 100 : undefined;
  const limit = share === undefined ? Number(maxFailed) : Math.floor(share * nodes);
  return { failed, limit, ...(withinSeconds === undefined ? {} : { withinSeconds }) };
}
