/** Confirmation of an action. The browser's modal dialog traps the focus and handles Escape. */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { t, translated } from '../texts/translate.js';
import classes from './confirm-dialog.module.css';
import controls from './controls.module.css';

export interface Confirmation {
  title: string;
  /** The effect, with the number of affected hosts. */
  text: ReactNode;
  act: string;
  /** True if the action deletes something. Its button is red then. */
  isDestructive?: boolean;
  /** Whether a reason is required, optional or not asked for. */
  reason: 'needed' | 'welcome' | 'none';
  /** Rejects with an error that is shown in the dialog. */
  perform: (reason: string) => Promise<void>;
}

/** `onClose` is called after the action or a cancellation. */
export function ConfirmDialog({ question, onClose }: { question: Confirmation; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const perform = async () => {
    setBusy(true);
    setProblem('');
    try {
      await question.perform(reason.trim());
      dialog.current?.close();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const lacksReason = question.reason === 'needed' && reason.trim() === '';
  return (
    <dialog ref={dialog} className={classes.dialog} aria-labelledby={`${id}-title`} onClose={onClose}>
      <h2 id={`${id}-title`}>{translated(question.title)}</h2>
      <div>{question.text}</div>
      {question.reason !== 'none' && (
        <label className={controls.field}>
          {question.reason === 'needed' ? t('Why (needed)') : t('Why (optional, visible to others)')}
          <input
            className={controls.input}
            value={reason}
            required={question.reason === 'needed'}
            onChange={(event) => setReason(event.target.value)}
          />
        </label>
      )}
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      <div className={controls.row}>
        <button
          type="button"
          className={controls.button}
          {...(question.isDestructive ? { 'data-danger': true } : { 'data-main': true })}
          disabled={isBusy || lacksReason}
          onClick={() => void perform()}
        >
          {translated(question.act)}
        </button>
        <button type="button" className={controls.button} onClick={() => dialog.current?.close()}>
          {t('Cancel')}
        </button>
      </div>
    </dialog>
  );
}
