/**
 * Shown when another user has changed the DaemonSet during editing: displays that change and offers ways to continue.
 */
import { applyPatch, createPatch } from 'diff';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import controls from '../layout/controls.module.css';
import { TextDiff } from '../layout/text/text-diff.js';
import { manifestText } from './manifest-text.js';

interface ConflictChoiceProps {
  base: DaemonSet;
  /** The edited text. */
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
      <h3>Somebody else has changed it meanwhile</h3>
      <p>Nothing was stored. What they changed:</p>
      <TextDiff label="What they changed" before={before} after={after} />
      <div className={controls.row}>
        {merged !== undefined && (
          <button type="button" className={controls.button} data-main onClick={() => onSettled(merged)}>
            Take both changes
          </button>
        )}
        <button type="button" className={controls.button} onClick={() => onSettled(mine)}>
          Keep mine, undo theirs
        </button>
        <button type="button" className={controls.button} onClick={() => onSettled(after)}>
          Take theirs, drop mine
        </button>
      </div>
      {merged === undefined && (
        <p>Both changed the same lines, so they cannot be put together by themselves.</p>
      )}
    </section>
  );
}

/** Applies the user's edits to the other user's version. Returns undefined if both changed the same lines. */
function mergedText(base: string, mine: string, theirs: string): string | undefined {
  const merged = applyPatch(theirs, createPatch('manifest', base, mine));
  return merged === false ? undefined : merged;
}
