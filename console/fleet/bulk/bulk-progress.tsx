/** Progress, failures and undo of a bulk action. */
import controls from '../../layout/controls.module.css';
import { t } from '../../texts/translate.js';
import classes from './bulk-bar.module.css';
import type { BulkState } from './bulk-run.js';

const MAX_SHOWN = 20;

interface BulkProgressProps {
  title: string;
  state: BulkState;
  stop: () => void;
  /** Absent while the action runs, and if it cannot be undone. */
  undo?: () => void;
  onDismiss: () => void;
}

export function BulkProgress({ title, state, stop, undo, onDismiss }: BulkProgressProps) {
  const { total, done, failed, isOver } = state;
  const left = total - done - failed.length;
  return (
    <section className={controls.card} aria-label="Progress">
      <p role="status">
        {title}: {done} of {total} done{failed.length > 0 && `, ${failed.length} failed`}
        {isOver && left > 0 && `, ${left} not started`}
        {isOver && '.'}
      </p>
      <progress className={classes.progress} value={done + failed.length} max={total} aria-label={title} />
      {failed.length > 0 && (
        <ul>
          {failed.slice(0, MAX_SHOWN).map(({ name, problem }) => (
            <li key={name}>
              <strong>{name}</strong> {problem}
            </li>
          ))}
          {failed.length > MAX_SHOWN && <li>and {failed.length - MAX_SHOWN} more</li>}
        </ul>
      )}
      <div className={controls.row}>
        {!isOver && (
          <button type="button" className={controls.button} onClick={stop}>
            {t('Stop')}
          </button>
        )}
        {isOver && undo && (
          <button type="button" className={controls.button} onClick={undo}>
            {t('Undo')} {done}
          </button>
        )}
        {isOver && (
          <button type="button" className={controls.button} onClick={onDismiss}>
            {t('Close')}
          </button>
        )}
      </div>
    </section>
  );
}
