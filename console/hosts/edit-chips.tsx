/** A label or taint as a chip, and the field that makes another. */
import { type FormEvent, useState } from 'react';
import controls from '../layout/controls.module.css';
import type { DraftRow } from './node-draft.js';

interface ChipProps {
  text: string;
  state: DraftRow['state'];
  /** What it is, for buttons' names. */
  name: string;
  /** Absent: it is only shown. */
  onRemove?: () => void;
  /** Takes its removal back. */
  onKeep?: () => void;
}

const MARKS: Readonly<Record<DraftRow['state'], string>> = {
  stays: '',
  new: 'new',
  changed: 'changed',
  goes: 'goes',
};

export function EditChip({ text, state, name, onRemove, onKeep }: ChipProps) {
  return (
    <li data-state={state}>
      <code>{text}</code>
      {state !== 'stays' && <small>{MARKS[state]}</small>}
      {onRemove && state !== 'goes' && (
        <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
          ×
        </button>
      )}
      {onKeep && state === 'goes' && (
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
  /** False: the text is not good, and stays. */
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
