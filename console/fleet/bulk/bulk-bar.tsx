/** Actions on the selected hosts: confirmation, progress and undo. */

import { useState } from 'react';
import { countText } from '../../../shared/kube/objects/meta.js';
import { ACCESS, useIsAllowed } from '../../api/access-checks.js';
import { ApiCallError } from '../../api/api-call.js';
import { changeNode, revokeNode } from '../../api/node-writes.js';
import { type Confirmation, ConfirmDialog } from '../../layout/confirm-dialog.js';
import controls from '../../layout/controls.module.css';
import { HostEffectText } from '../../layout/effect-text.js';
import { CopyCommand } from '../../layout/text/copy-command.js';
import { t, translated } from '../../texts/translate.js';
import { type BulkAction, NODE_ACTIONS, REVOKE } from './bulk-actions.js';
import classes from './bulk-bar.module.css';
import { BulkProgress } from './bulk-progress.js';
import { type BulkState, runBulk } from './bulk-run.js';

interface BulkBarProps {
  names: readonly string[];
  /** Number of selected hosts that the table does not show. */
  hidden: number;
  onClear: () => void;
}

interface Work {
  title: string;
  state: BulkState;
  stop: () => void;
  undo?: () => void;
}

/** Performs the action on one host. Resolves with a function that undoes it, if possible. */
type HostTask = (name: string) => Promise<(() => Promise<unknown>) | undefined>;

export function BulkBar({ names, hidden, onClear }: BulkBarProps) {
  const mayChange = useIsAllowed(ACCESS.changeNodes);
  const mayRevoke = useIsAllowed(ACCESS.revoke);
  const [question, setQuestion] = useState<Confirmation>();
  const [work, setWork] = useState<Work>();
  const actions = [...(mayChange ? NODE_ACTIONS : []), ...(mayRevoke ? [REVOKE] : [])];

  const start = async (title: string, targets: readonly string[], task: HostTask) => {
    const abort = new AbortController();
    const stop = () => abort.abort();
    const undone = await runBulk({
      names: targets,
      act: task,
      retryDelay,
      onProgress: (state) => setWork({ title, state, stop }),
      signal: abort.signal,
    });
    const ways = new Map(undone.map(({ name, undo }) => [name, undo]));
    if (![...ways.values()].some(Boolean)) return;
    const undo = () => {
      const back: HostTask = async (name) => {
        await ways.get(name)?.();
        return undefined;
      };
      void start(`Undo: ${title}`, [...ways.keys()], back);
    };
    setWork((present) => present && { ...present, undo });
  };
  const ask = (action: BulkAction, text: string) => {
    const targets = [...names];
    setQuestion(
      questionFor(action, text, targets, () => void start(action.name, targets, taskFor(action, text))),
    );
  };

  return (
    <>
      {names.length > 0 && (
        <section className={classes.bar} aria-label="Chosen hosts">
          <p role="status">
            <strong>{countText(names.length, 'host')}</strong> selected
            {hidden > 0 && `, ${hidden} of them hidden by the filter`}
          </p>
          {actions.map((action) => (
            <ActionButton key={action.id} action={action} onAsk={(text) => ask(action, text)} />
          ))}
          <button type="button" className={controls.button} onClick={onClear}>
            {t('Clear selection')}
          </button>
        </section>
      )}
      {work && <BulkProgress {...work} onDismiss={() => setWork(undefined)} />}
      {question && <ConfirmDialog question={question} onClose={() => setQuestion(undefined)} />}
    </>
  );
}

function ActionButton({ action, onAsk }: { action: BulkAction; onAsk: (text: string) => void }) {
  const [text, setText] = useState('');
  const isGood = action.change === undefined || action.change(text) !== undefined;
  if (!action.hint) {
    return (
      <button type="button" className={controls.button} onClick={() => onAsk('')}>
        {translated(action.name)}…
      </button>
    );
  }
  return (
    <form
      className={classes.typed}
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood) onAsk(text);
      }}
    >
      <input
        className={controls.input}
        aria-label={`${action.name} for the selected hosts`}
        placeholder={action.hint}
        aria-invalid={text !== '' && !isGood}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className={controls.button} disabled={!isGood}>
        {translated(action.name)}…
      </button>
    </form>
  );
}

function questionFor(
  action: BulkAction,
  text: string,
  targets: readonly string[],
  start: () => void,
): Confirmation {
  const change = action.change?.(text);
  const some = targets.slice(0, 3).join(' ') + (targets.length > 3 ? ' …' : '');
  return {
    title: `${translated(action.name)}: ${countText(targets.length, 'host')}?`,
    text: (
      <>
        <p>{action.effect(text, countText(targets.length, 'host'))}</p>
        {change && <HostEffectText hosts={targets} change={change} />}
        <CopyCommand text={action.command(text, some)} />
      </>
    ),
    act: `${translated(action.name)} ${countText(targets.length, 'host')}`,
    reason: 'none',
    // The action continues after the dialog closes. The progress bar can stop it.
    perform: async () => start(),
  };
}

function taskFor(action: BulkAction, text: string): HostTask {
  const change = action.change?.(text);
  if (!change) {
    return async (name) => {
      await revokeNode(name);
      return undefined;
    };
  }
  return async (name) => {
    const inverse = await changeNode(name, change);
    return () => changeNode(name, inverse);
  };
}

/** Returns the delay before a retry if the coordinator is overloaded or unreachable. */
function retryDelay(error: unknown): number | undefined {
  if (!(error instanceof ApiCallError)) return undefined;
  return error.code === 429 || error.code === 503 || error.code === 0 ? 1_000 : undefined;
}
