/** Chips for labels and taints, and the field to add one. */
import { type FormEvent, useState } from 'react';
import controls from '../layout/controls.module.css';
import type { DraftRow } from './node-draft.js';

interface ChipProps {
  text: string;
  state: DraftRow['state'];
  /** Name of the label or taint, for screen readers. */
  name: string;
  onRemove?: () => void;
  onKeep?: () => void;
}

const MARKS: Readonly<Record<DraftRow['state'], string>> = {
  unchanged: '',
  new: 'new',
  changed: 'changed',
  removed: 'removed',
};

export function EditChip({ text, state, name, onRemove, onKeep }: ChipProps) {
  return (
    <li data-state={state}>
      <code>{text}</code>
      {state !== 'unchanged' && <small>{MARKS[state]}</small>}
      {onRemove && state !== 'removed' && (
        <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
          ×
        </button>
      )}
      {onKeep && state === 'removed' && (
        <button type="button" aria-label={`Keep ${name}`} onClick={onKeep}>
          ↺
        </button>
      )}
    </li>
  );
}

interface AddTextProps {
  label: string;
  hint: string;
  act: string;
  /** Returns false for an invalid text, which then stays in the field. */
  onAdd: (text: string) => boolean;
}

export function AddText({ label, hint, act, onAdd }: AddTextProps) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (onAdd(text)) setText('');
  };
  return (
    <form className={controls.row} onSubmit={submit}>
      <input
        className={controls.input}
        aria-label={label}
        placeholder={hint}
        required
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className={controls.button}>
        {act}
      </button>
    </form>
  );
}
