/** `everynode values …`: who changed HostValues and DaemonSetOverrides, and the way back. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { stringify } from 'yaml';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { keptSpecs, type ObjectWithHistory, specAt } from '../../../shared/kube/objects/spec-history.js';
import { EXIT_CODES, ExitError } from '../../../shared/process/exit-error.js';
import { printDocument, printLine } from '../../../shared/process/output/terminal-output.js';
import { addKubeconfigOptions } from '../client/kubeconfig-choice.js';
import { SettingsClient, type SettingsOptions } from './settings-client.js';
import { historyTable, replacementTable } from './settings-history-text.js';
import { historyTarget, type SettingsObject, undoTarget } from './settings-target.js';

interface HistoryOptions extends SettingsOptions {
  revision?: number;
}

interface UndoOptions extends SettingsOptions {
  toRevision?: number;
}

export function valuesCommand(program: Command): void {
  const values = program
    .command('values')
    .description('show who changed HostValues and DaemonSetOverrides, and restore earlier ones');
  common(values.command('history'), 'list the kept revisions of an object, or all changes of a DaemonSet')
    .argument(
      '<TARGET>',
      'HostValues as NAME or hv/NAME, a DaemonSetOverride as dso/NAME, a DaemonSet as ds/NAME',
    )
    .option('--revision <N>', 'print this revision as a manifest', revisionNumber)
    .action(history);
  common(values.command('undo'), 'restore the previous revision, or the one of --to-revision')
    .argument('<TARGET>', 'HostValues as NAME or hv/NAME, a DaemonSetOverride as dso/NAME')
    .option('--to-revision <N>', 'the revision to restore', revisionNumber)
    .action(undo);
}

function common(command: Command, what: string): Command {
  command.description(what).option('-n, --namespace <NS>', "namespace of the object (default the context's)");
  return addKubeconfigOptions(command);
}

function revisionNumber(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of at least 1.');
}

async function history(text: string, { revision, ...options }: HistoryOptions): Promise<void> {
  const target = historyTarget(text);
  const client = new SettingsClient(options);
  if (target.kind === 'DaemonSet') {
    if (revision !== undefined)
      throw new ExitError(EXIT_CODES.usage, 'Use kubectl rollout history --revision for a template.');
    return replacementTable(await client.sourcesOf(target.name)).forEach(printLine);
  }
  const object = await client.get(target);
  if (revision === undefined) return historyTable(object).forEach(printLine);
  printDocument(manifestOf(target, object, keptSpec(target, object, revision)));
}

function manifestOf({ kind, name }: SettingsObject, { metadata }: ObjectWithHistory, spec: object): string {
  const { namespace } = metadata;
  return stringify({ apiVersion: `${FLEET_GROUP}/v1`, kind, metadata: { name, namespace }, spec });
}

async function undo(text: string, { toRevision, ...options }: UndoOptions): Promise<void> {
  const target = undoTarget(text);
  const client = new SettingsClient(options);
  const object = await client.get(target);
  const { kind, name } = target;
  const previous = keptSpecs(object).at(-2)?.generation;
  const revision = toRevision ?? previous;
  if (revision === undefined)
    throw new ExitError(EXIT_CODES.refused, `No earlier revision of ${kind} ${name} is kept.`);
  const isChanged = await client.restore(target, object, keptSpec(target, object, revision));
  printLine(
    isChanged
      ? `${kind} ${name} is restored to revision ${revision}`
      : `${kind} ${name} equals revision ${revision} already`,
  );
}

/** Throws ExitError if the revision is not kept. */
function keptSpec({ kind, name }: SettingsObject, object: ObjectWithHistory, revision: number): object {
  const spec = specAt(object, revision);
  if (spec) return spec;
  const kept = keptSpecs(object).map(({ generation }) => generation);
  throw new ExitError(
    EXIT_CODES.refused,
    `Revision ${revision} of ${kind} ${name} is not kept. Kept revisions: ${kept.join(', ')}.`,
  );
}
