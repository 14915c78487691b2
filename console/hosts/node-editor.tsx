/** Editor for a host's labels and taints, with a preview of the effect on Pods. */
import { useState } from 'react';
import { isSameTaint, type NodeChange, parseTaint, taintText } from '../../shared/kube/nodes/node-change.js';
import type { Node } from '../../shared/kube/nodes/node-types.js';
import { ownValue } from '../../shared/kube/objects/label-syntax.js';
import { countText } from '../../shared/kube/objects/meta.js';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import { changeNode } from '../api/node-writes.js';
import controls from '../layout/controls.module.css';
import { HostEffectText } from '../layout/effect-text.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUnsavedEdit } from '../layout/unsaved-edits.js';
import { t } from '../texts/translate.js';
import { AddText, EditChip } from './edit-chips.js';
import {
  changeOfDraft,
  commandsOf,
  isSystemLabel,
  labelRows,
  NO_DRAFT,
  parseLabel,
  withLabel,
  withoutTaint,
  withTaint,
  withTaintKept,
} from './node-draft.js';
import classes from './node-editor.module.css';

export function NodeEditor({ node }: { node: Node }) {
  const [draft, setDraft] = useState(NO_DRAFT);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const mayChange = useIsAllowed(ACCESS.changeNodes);
  const { name } = node.metadata;
  const change = changeOfDraft(draft);

  const save = async () => {
    if (!change) return;
    setBusy(true);
    setProblem('');
    try {
      await changeNode(name, change);
      setDraft(NO_DRAFT);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const add = <T,>(parsed: T | undefined, what: string, take: (value: T) => void): boolean => {
    setProblem(parsed === undefined ? `Invalid ${what}.` : '');
    if (parsed !== undefined) take(parsed);
    return parsed !== undefined;
  };

  return (
    <section className={`${controls.card} ${classes.part}`} aria-label="Labels and taints">
      <h2>Labels</h2>
      <Labels node={node} draft={draft} onChange={mayChange ? setDraft : undefined} />
      {mayChange && (
        <AddText
          label="New label"
          hint="site=hamburg"
          act="Set label"
          onAdd={(text) =>
            add(parseLabel(text), 'label; example: site=hamburg', ([key, value]) =>
              setDraft(withLabel(draft, node, key, value)),
            )
          }
        />
      )}
      <h2>Taints</h2>
      <Taints node={node} draft={draft} onChange={mayChange ? setDraft : undefined} />
      {mayChange && (
        <AddText
          label="New taint"
          hint="repair=yes:NoSchedule"
          act="Set taint"
          onAdd={(text) =>
            add(parseTaint(text), 'taint; example: repair=yes:NoSchedule', (taint) =>
              setDraft(withTaint(draft, node, taint)),
            )
          }
        />
      )}
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      {change && (
        <div className={classes.preview}>
          <IfSaved name={name} draft={draft} change={change} />
          <SaveOrDiscard isBusy={isBusy} onSave={() => void save()} onDiscard={() => setDraft(NO_DRAFT)} />
        </div>
      )}
    </section>
  );
}

interface IfSavedProps {
  name: string;
  draft: Draft;
  change: NodeChange;
}

function IfSaved({ name, draft, change }: IfSavedProps) {
  return (
    <>
      <h3>Preview</h3>
      <HostEffectText hosts={[name]} change={change} />
      {commandsOf(name, draft).map((text) => (
        <CopyCommand key={text} text={text} />
      ))}
    </>
  );
}

interface SaveOrDiscardProps {
  isBusy: boolean;
  onSave: () => void;
  onDiscard: () => void;
}

/** Shown while there are changes. */
function SaveOrDiscard({ isBusy, onSave, onDiscard }: SaveOrDiscardProps) {
  useUnsavedEdit(true);
  return (
    <div className={controls.row}>
      <button type="button" className={controls.button} data-main disabled={isBusy} onClick={onSave}>
        {t('Save')}
      </button>
      <button type="button" className={controls.button} onClick={onDiscard}>
        {t('Discard')}
      </button>
    </div>
  );
}

type Draft = typeof NO_DRAFT;

interface PartProps {
  node: Node;
  draft: Draft;
  /** Absent if the user may not change the host. */
  onChange: ((draft: Draft) => void) | undefined;
}

/** Labels of the agent are folded, and have no button. */
function Labels({ node, draft, onChange }: PartProps) {
  const rows = labelRows(node, draft);
  const system = rows.filter(({ key, state }) => isSystemLabel(key) && state === 'unchanged');
  return (
    <>
      <ul className={classes.chips}>
        {rows
          .filter((row) => !system.includes(row))
          .map(({ key, text, state }) => (
            <EditChip
              key={key}
              text={text}
              state={state}
              name={`label ${key}`}
              {...(onChange
                ? {
                    onRemove: () => onChange(withLabel(draft, node, key, null)),
                    onKeep: () =>
                      onChange(withLabel(draft, node, key, ownValue(node.metadata.labels, key) ?? null)),
                  }
                : {})}
            />
          ))}
      </ul>
      {system.length > 0 && (
        <details>
          <summary>{countText(system.length, 'label', 'labels')} of the agent</summary>
          <ul className={classes.chips}>
            {system.map(({ key, text, state }) => (
              <EditChip key={key} text={text} state={state} name={`label ${key}`} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Taints({ node, draft, onChange }: PartProps) {
  const present = node.spec?.taints ?? [];
  const added = draft.added.filter((taint) => !present.some((each) => isSameTaint(each, taint)));
  if (present.length + added.length === 0) return <p className={controls.dim}>None.</p>;
  return (
    <ul className={classes.chips}>
      {present.map((taint) => {
        const other = draft.added.find((each) => isSameTaint(each, taint));
        const isGoing = draft.removed.some((each) => isSameTaint(each, taint));
        return (
          <EditChip
            key={`${taint.key}:${taint.effect}`}
            text={taintText(other ?? taint)}
            state={isGoing ? 'removed' : other ? 'changed' : 'unchanged'}
            name={`taint ${taint.key}`}
            {...(onChange
              ? {
                  onRemove: () => onChange(withoutTaint(draft, node, taint)),
                  onKeep: () => onChange(withTaintKept(draft, taint)),
                }
              : {})}
          />
        );
      })}
      {added.map((taint) => (
        <EditChip
          key={`${taint.key}:${taint.effect}`}
          text={taintText(taint)}
          state="new"
          name={`taint ${taint.key}`}
          {...(onChange ? { onRemove: () => onChange(withoutTaint(draft, node, taint)) } : {})}
        />
      ))}
    </ul>
  );
}
