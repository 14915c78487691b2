/** A text input with a label. The placeholder is an example. */
import { useId } from 'react';
import { translated } from '../texts/translate.js';
import controls from './controls.module.css';

interface TextFieldProps {
  label: string;
  hint: string;
  value: string;
  onText: (text: string) => void;
}

export function TextField({ label, hint, value, onText }: TextFieldProps) {
  const id = useId();
  return (
    <div className={controls.field}>
      <label htmlFor={id}>{translated(label)}</label>
      <input
        id={id}
        className={controls.input}
        value={value}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onText(target.value)}
      />
    </div>
  );
}
