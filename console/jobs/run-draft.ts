/** The form "Run on hosts" as a DaemonJob and as a command. Pure. */
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import { shellWord } from '../layout/text/shell-words.js';
import { splitCommand } from '../pods/split-command.js';

export interface RunDraft {
  namespace: string;
  /** `hosts` selects by the labels in `selector`. */
  target: 'hosts' | 'all';
  selector: string;
  image: string;
  command: string;
  parallelism: string;
  maxFailed: string;
  retries: string;
}

/** Returns the empty form. It starts in the namespace that the user has chosen. */
export function firstDraft(namespace: string): RunDraft {
  return {
    ...{ namespace, target: 'hosts', selector: '', image: '', command: '' },
    ...{ parallelism: '100%', maxFailed: '', retries: '0' },
  };
}

/** As `everynode job run` sets them. */
const DEADLINE_SECONDS = 3_600;
const TTL_SECONDS = 7 * 24 * 3_600;

/** Returns the job, or what the user must change first. */
export function jobOfDraft(draft: RunDraft): { job: object } | { problem: string } {
  const { namespace, target, selector, image, command, parallelism, maxFailed, retries } = draft;
  if (image.trim() === '') return { problem: 'Enter an image.' };
  if (target === 'hosts' && selector.trim() === '')
    return { problem: 'Enter labels such as site=kiel, or choose all hosts.' };
  const nodeSelector = target === 'all' ? {} : parseSelector(selector);
  if (!nodeSelector) return { problem: 'The labels must look like site=kiel,arch=arm64.' };
  if (!/^\d+$/.test(retries.trim())) return { problem: 'Retries must be a number of at least 0.' };
  const words = splitCommand(command);
  const container = { name: 'job', image: image.trim(), ...(words.length > 0 && { command: words }) };
  const spec = {
    template: { spec: { nodeSelector, containers: [container] } },
    ...{ backoffLimit: Number(retries), retry: 'AtLeastOnce' },
    ...{ activeDeadlineSeconds: DEADLINE_SECONDS, ttlSecondsAfterFinished: TTL_SECONDS },
    ...(parallelism.trim() && { parallelism: amountOf(parallelism) }),
    ...(maxFailed.trim() && { maxFailed: amountOf(maxFailed) }),
  };
  const metadata = { generateName: 'run-', namespace: namespace.trim() || 'default' };
  return { job: { apiVersion: `${FLEET_GROUP}/v1`, kind: 'DaemonJob', metadata, spec } };
}

function parseSelector(text: string): Record<string, string> | undefined {
  const pairs = text.split(',').map((pair) => pair.split(/==?/).map((part) => part.trim()));
  const isGood = pairs.every(([key, value, ...more]) => key && value !== undefined && more.length === 0);
  return isGood ? Object.fromEntries(pairs as [string, string][]) : undefined;
}

function amountOf(text: string): number | string {
  return /^\d+$/.test(text.trim()) ? Number(text) : text.trim();
}

/** Returns the equivalent command. Each value is one word of the shell. */
export function commandOfDraft(draft: RunDraft): string {
  const { target, selector, image, command } = draft;
  const option = (name: string, text: string, usual: string) =>
    text.trim() === usual || text.trim() === '' ? [] : [name, text.trim()];
  const words = [
    ...['everynode', 'job', 'run'],
    ...(target === 'all' ? ['--all'] : ['--selector', selector.trim() || 'site=kiel']),
    ...option('-n', draft.namespace, 'default'),
    ...option('--parallelism', draft.parallelism, '100%'),
    ...option('--max-failed', draft.maxFailed, ''),
    ...option('--retries', draft.retries, '0'),
    ...['--', image.trim() || 'IMAGE', ...splitCommand(command)],
  ];
  return words.map(shellWord).join(' ');
}
