/** What came of installing, upgrading, rolling back and uninstalling a chart. */

export type ChartOutcome =
  | { kind: 'passed' }
  /** Refused before anything was stored. `sentence` is what Helm showed. */
  | { kind: 'refused'; sentence: string }
  /** Helm waited for what no part of Everynode provides. */
  | { kind: 'waits'; step: string; claims: readonly string[]; services: readonly string[] }
  /** Kubernetes refuses this step as well. */
  | { kind: 'refused by Kubernetes, too'; step: string; sentence: string }
  | { kind: 'failed'; step: string; error: string };

/** A step that failed, and the state of the namespace after it. */
export interface FailedStep {
  step: string;
  stderr: string;
  /** Names of objects that the release has stored. */
  stored: readonly string[];
  pendingClaims: readonly string[];
  /** Services of type LoadBalancer without an address. */
  waitingServices: readonly string[];
}

const MAX_ERROR_LENGTH = 300;
const REFUSAL = /Everynode does not support .*/;
const TIMEOUT = /context deadline exceeded|timed out waiting for the condition/;
/** kubernetes/website pull request 56495 warns of `rules: []` in an aggregated ClusterRole. */
const AGGREGATED_RULES = /Apply failed .* conflict with "clusterrole-aggregation-controller": \.rules/;

/** Returns Helm's error without its warnings, on one line. */
function lastError(stderr: string): string {
  const from = stderr.lastIndexOf('Error: ');
  return (from < 0 ? stderr : stderr.slice(from)).replaceAll(/\s+/g, ' ').trim();
}

export function failedOutcome({
  step,
  stderr,
  stored,
  pendingClaims,
  waitingServices,
}: FailedStep): ChartOutcome {
  const error = lastError(stderr);
  const refusal = REFUSAL.exec(error)?.[0];
  if (refusal && step === 'install' && stored.length === 0) return { kind: 'refused', sentence: refusal };
  const conflict = AGGREGATED_RULES.exec(error)?.[0];
  if (conflict) return { kind: 'refused by Kubernetes, too', step, sentence: conflict };
  if (TIMEOUT.test(error) && pendingClaims.length + waitingServices.length > 0)
    return { kind: 'waits', step, claims: pendingClaims, services: waitingServices };
  const short = error.length > MAX_ERROR_LENGTH ? `${error.slice(0, MAX_ERROR_LENGTH)}…` : error;
  return { kind: 'failed', step, error: short };
}

function waitsText({ claims, services }: Extract<ChartOutcome, { kind: 'waits' }>): string {
  const stay = claims.length > 0 ? [`claims stay Pending (${claims.join(', ')})`] : [];
  const lack = services.length > 0 ? [`there is no load balancer (Service ${services.join(', ')})`] : [];
  return [...stay, ...lack].join(', ');
}

/** Returns the outcome in a few words. */
export function outcomeText(outcome: ChartOutcome): string {
  switch (outcome.kind) {
    case 'passed':
      return 'passed';
    case 'refused':
      return `refused whole: ${outcome.sentence}`;
    case 'waits':
      return `${outcome.step} waits: ${waitsText(outcome)}`;
    case 'refused by Kubernetes, too':
      return `${outcome.step} refused as by Kubernetes: ${outcome.sentence}`;
    case 'failed':
      return `${outcome.step} failed: ${outcome.error}`;
  }
}
