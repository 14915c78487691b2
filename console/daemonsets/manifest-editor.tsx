/** Editor of a DaemonSet's manifest: validation while typing, preview of differences and plan, apply. */
import { Suspense, useState } from 'react';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Plan } from '../../shared/kube/fleet/plan-types.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { lazyPage } from '../layout/lazy-page.js';
import { useUnsavedEdit } from '../layout/unsaved-edits.js';
import { t } from '../texts/translate.js';
import { ConflictChoice } from './manifest-conflict.js';
import classes from './manifest-editor.module.css';
import { applyQuestion, PreviewOfChange } from './preview-of-change.js';
import { ProblemList } from './problem-list.js';
import { useManifestEdit } from './use-manifest-edit.js';

const YamlEditor = lazyPage(async () => (await import('./yaml-editor.js')).YamlEditor);

interface ManifestEditorProps {
  /** The edited DaemonSet. Absent for a new one. */
  base?: DaemonSet;
  firstText: string;
  onDone: (written?: DaemonSet) => void;
}

export function ManifestEditor({ base: firstBase, firstText, onDone: leave }: ManifestEditorProps) {
  const edit = useManifestEdit(firstBase, firstText, (written) => onDone(written));
  const { base, text, problems, preview, failure, theirs } = edit;
  const dropEdit = useUnsavedEdit(text !== firstText);
  const onDone = (written?: DaemonSet) => {
    dropEdit();
    leave(written);
  };
  const [isConfirming, setConfirming] = useState(false);

  return (
    <>
      <div className={classes.editor}>
        <Suspense fallback={<p role="status">Loading the editor…</p>}>
          <YamlEditor label="Manifest as YAML" text={text} onChange={edit.change} check={edit.check} />
        </Suspense>
      </div>
      <ProblemList problems={problems} />
      {theirs && base && (
        <ConflictChoice
          base={base}
          mine={text}
          theirs={theirs}
          onSettled={(merged) => edit.settle(merged, theirs)}
        />
      )}
      <Actions
        act={base ? 'Apply' : 'Create'}
        plan={preview?.plan}
        canPreview={(problems ?? []).length === 0 && theirs === undefined}
        onPreview={() => void edit.loadPreview()}
        onAct={() => setConfirming(true)}
        onLeave={() => onDone()}
      />
      {failure && (
        <p role="alert" className={controls.problem}>
          {failure}
        </p>
      )}
      {preview && <PreviewOfChange base={base} preview={preview} />}
      {isConfirming && preview && (
        <ConfirmDialog
          question={applyQuestion(base, preview.plan, () => edit.apply(preview))}
          onClose={() => setConfirming(false)}
        />
      )}
    </>
  );
}

interface ActionsProps {
  act: string;
  /** Absent without a preview. */
  plan: Plan | undefined;
  canPreview: boolean;
  onPreview: () => void;
  onAct: () => void;
  onLeave: () => void;
}

function Actions({ act, plan, canPreview, onPreview, onAct, onLeave }: ActionsProps) {
  return (
    <div className={controls.row}>
      <button
        type="button"
        className={controls.button}
        data-main={!plan}
        disabled={!canPreview}
        onClick={onPreview}
      >
        {t('Preview changes')}
      </button>
      {plan?.refused.length === 0 && (
        <button type="button" className={controls.button} data-main onClick={onAct}>
          {act}
        </button>
      )}
      <button type="button" className={controls.button} onClick={onLeave}>
        {t('Discard changes')}
      </button>
    </div>
  );
}
