/** A DaemonSet's manifest, edited: checked as it is typed, shown with its differences and its plan, then applied. */

import { lazy, Suspense, useCallback, useState } from 'react';
import { countText } from '../../shared/kube/count-text.js';
import type { Plan } from '../../shared/kube/plan.js';
import type { DaemonSet } from '../../shared/kube/workload.js';
import { CallError } from '../api/call.js';
import { Command } from '../layout/command.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { TextDifference } from '../layout/text-difference.js';
import { ConflictChoice } from './conflict-choice.js';
import classes from './manifest-editor.module.css';
import { manifestText, type Problem, problemsOf, readManifest } from './manifest-text.js';
import { changedSince, checkWrite, planOf, store, writeOf } from './manifest-write.js';
import { changingHosts, PlanSummary } from './plan-summary.js';

const YamlEditor = lazy(async () => ({ default: (await import('./yaml-editor.js')).YamlEditor }));

interface ManifestEditorProps {
  /** What is edited; absent: it is to be made. */
  base?: DaemonSet;
  /** What stands in the editor at first. */
  firstText: string;
  onDone: (written?: DaemonSet) => void;
}

/** A look at what an apply would do, of exactly this text. */
interface Preview {
  text: string;
  manifest: Record<string, unknown>;
  plan: Plan;
}

export function ManifestEditor({ base: firstBase, firstText, onDone }: ManifestEditorProps) {
  const [base, setBase] = useState(firstBase);
  const [text, setText] = useState(firstText);
  const [problems, setProblems] = useState<readonly Problem[]>();
  const [preview, setPreview] = useState<Preview>();
  const [isAsked, setAsked] = useState(false);
  const [trouble, setTrouble] = useState('');
  const [theirs, setTheirs] = useState<DaemonSet>();

  const change = useCallback((next: string) => {
    setText(next);
    setProblems(undefined);
    setPreview(undefined);
    setTrouble('');
  }, []);
  const check = useCallback(
    async (checked: string) => {
      const found = await problemsIn(checked, base);
      setProblems(found);
      return found;
    },
    [base],
  );

  /** True when somebody else has changed it: that is shown instead. */
  const isLate = async () => {
    const changed = base && (await changedSince(base));
    setTheirs(changed);
    if (changed) setPreview(undefined);
    return changed !== undefined;
  };
  const look = async () => {
    setTrouble('');
    const read = readManifest(text);
    if ('problems' in read) return setProblems(read.problems);
    try {
      if (await isLate()) return;
      const plan = await planOf(await writeOf(read.manifest, base));
      setPreview({ text, manifest: read.manifest, plan });
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error));
    }
  };
  const apply = async ({ manifest }: Preview) => {
    try {
      onDone(await store(manifest, base));
    } catch (error) {
      if (!(error instanceof CallError && error.reason === 'Conflict' && (await isLate()))) throw error;
    }
  };
  const settle = (merged: string, from: DaemonSet) => {
    setBase(from);
    setTheirs(undefined);
    change(merged);
  };

  const hosts = preview ? changingHosts(preview.plan) : 0;
  return (
    <>
      <div className={classes.editor}>
        <Suspense fallback={<p role="status">Loading the editor…</p>}>
          <YamlEditor label="Manifest as YAML" text={text} onChange={change} check={check} />
        </Suspense>
      </div>
      <Problems problems={problems} />
      {theirs && base && (
        <ConflictChoice
          base={base}
          mine={text}
          theirs={theirs}
          onSettled={(merged) => settle(merged, theirs)}
        />
      )}
      <div className={controls.row}>
        <button
          type="button"
          className={controls.button}
          data-main={!preview}
          disabled={(problems ?? []).length > 0 || theirs !== undefined}
          onClick={() => void look()}
        >
          Show what would change
        </button>
        {preview && preview.plan.refused.length === 0 && (
          <button type="button" className={controls.button} data-main onClick={() => setAsked(true)}>
            {base ? 'Apply' : 'Create'}
          </button>
        )}
        <button type="button" className={controls.button} onClick={() => onDone()}>
          Leave without a change
        </button>
      </div>
      {trouble && (
        <p role="alert" className={controls.problem}>
          {trouble}
        </p>
      )}
      {preview && (
        <>
          <h3>What changes in the manifest</h3>
          <TextDifference
            label="Differences of the manifest"
            before={base ? manifestText(base) : ''}
            after={preview.text}
          />
          <h3>What it does to hosts</h3>
          <PlanSummary plan={preview.plan} />
          <Command text={base ? 'kubectl replace -f manifest.yaml' : 'kubectl create -f manifest.yaml'} />
        </>
      )}
      {isAsked && preview && (
        <ConfirmDialog
          question={{
            title: base ? `Apply this to ${base.metadata.name}?` : 'Create this DaemonSet?',
            text: <p>{countText(hosts, 'host changes', 'hosts change')}, under the rules that hold now.</p>,
            act: base ? 'Apply' : 'Create',
            reason: 'none',
            perform: () => apply(preview),
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </>
  );
}

/** What the text itself lacks, else what the API would refuse. */
async function problemsIn(text: string, base: DaemonSet | undefined): Promise<readonly Problem[]> {
  const read = readManifest(text);
  if ('problems' in read) return read.problems;
  try {
    await checkWrite(await writeOf(read.manifest, base));
    return [];
  } catch (error) {
    // A conflict is no fault of the text: it is settled when somebody applies.
    if (!(error instanceof CallError) || error.reason === 'Conflict' || error.code === 0) return [];
    return problemsOf(text, error);
  }
}

function Problems({ problems }: { problems: readonly Problem[] | undefined }) {
  if (!problems) return <p role="status">Checking…</p>;
  if (problems.length === 0) return <p role="status">The coordinator would take it.</p>;
  return (
    <ul role="alert" aria-label="Problems" className={controls.problem}>
      {problems.map(({ line, message }) => (
        <li key={`${line}:${message}`}>
          Line {line}: {message}
        </li>
      ))}
    </ul>
  );
}
