/** Confirmation of an action, with its effect and a field for the reason. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { t, translated } from '../texts/translate.js';
import controls from './controls.module.css';
import { ModalDialog } from './widgets/modal-dialog.js';

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
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  // An action can end after its dialog was cancelled. It must not close the next dialog.
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);

  const perform = async () => {
    setBusy(true);
    setProblem('');
    try {
      await question.perform(reason.trim());
      if (isOpen.current) onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const lacksReason = question.reason === 'needed' && reason.trim() === '';
  return (
    <ModalDialog label={translated(question.title)} shape="box" keepsText onClose={onClose}>
      <h2>{translated(question.title)}</h2>
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
        <button type="button" className={controls.button} onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </ModalDialog>
  );
}
