/** Shown when another user has changed the DaemonSet: displays that change and offers ways to continue. */
import { applyPatch, createPatch } from 'diff';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import controls from '../layout/controls.module.css';
import { TextDiff } from '../layout/text/text-diff.js';
import { t } from '../texts/translate.js';
import { manifestText } from './manifest-text.js';

interface ConflictChoiceProps {
  base: DaemonSet;
  mine: string;
  theirs: DaemonSet;
  /** Called with the text to continue with. */
  onSettled: (text: string) => void;
}

export function ConflictChoice({ base, mine, theirs, onSettled }: ConflictChoiceProps) {
  const before = manifestText(base);
  const after = manifestText(theirs);
  const merged = mergedText(before, mine, after);
  return (
    <section role="alert" className={controls.card} aria-label="Conflict">
      <h3>Another user has changed this DaemonSet</h3>
      <p>Your changes were not saved. The other user changed:</p>
      <TextDiff label="Changes of the other user" before={before} after={after} />
      <div className={controls.row}>
        {merged !== undefined && (
          <button type="button" className={controls.button} data-main onClick={() => onSettled(merged)}>
            {t('Merge both changes')}
          </button>
        )}
        <button type="button" className={controls.button} onClick={() => onSettled(mine)}>
          {t('Keep mine, discard theirs')}
        </button>
        <button type="button" className={controls.button} onClick={() => onSettled(after)}>
          {t('Keep theirs, discard mine')}
        </button>
      </div>
      {merged === undefined && <p>Both versions change the same lines and cannot be merged automatically.</p>}
    </section>
  );
}

/** Applies the user's edits to the other user's version. Returns undefined if both changed the same lines. */
function mergedText(base: string, mine: string, theirs: string): string | undefined {
  const merged = applyPatch(theirs, createPatch('manifest', base, mine));
  return merged === false ? undefined : merged;
}
