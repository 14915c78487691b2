/** Editor of a DaemonSet's manifest: validation while typing, preview of differences and plan, apply. */
import { lazy, Suspense, useState } from 'react';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Plan } from '../../shared/kube/fleet/plan-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import { type Confirmation, ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { CopyCommand } from '../layout/text/copy-command.js';
import { TextDiff } from '../layout/text/text-diff.js';
import { useUnsavedEdit } from '../layout/unsaved-edits.js';
import { t } from '../texts/translate.js';
import { ConflictChoice } from './manifest-conflict.js';
import classes from './manifest-editor.module.css';
import { manifestText } from './manifest-text.js';
import { changingHosts, PlanSummary } from './plan-summary.js';
import { ProblemList } from './problem-list.js';
import { type Preview, useManifestEdit } from './use-manifest-edit.js';

const YamlEditor = lazy(async () => ({ default: (await import('./yaml-editor.js')).YamlEditor }));

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
      {preview && <WhatChanges base={base} preview={preview} />}
      {isConfirming && preview && (
        <ConfirmDialog
          question={questionOf(base, preview.plan, () => edit.apply(preview))}
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

interface WhatChangesProps {
  base: DaemonSet | undefined;
  preview: Preview;
}

function WhatChanges({ base, preview: { text, plan } }: WhatChangesProps) {
  const before = base ? manifestText(base) : '';
  return (
    <>
      <h3>Changes of the manifest</h3>
      <TextDiff label="Changes of the manifest" before={before} after={text} />
      <h3>Effect on hosts</h3>
      <PlanSummary plan={plan} />
      <CopyCommand text={base ? 'kubectl replace -f manifest.yaml' : 'kubectl create -f manifest.yaml'} />
    </>
  );
}

function questionOf(base: DaemonSet | undefined, plan: Plan, perform: () => Promise<void>): Confirmation {
  const hosts = changingHosts(plan);
  return {
    title: base ? `Apply changes to ${base.metadata.name}?` : 'Create this DaemonSet?',
    text: <p>{countText(hosts, 'host changes', 'hosts change')}, by the current policy.</p>,
    act: base ? 'Apply' : 'Create',
    reason: 'none',
    perform,
  };
}
