/** State of a manifest that is being edited: text, problems, preview and conflicts with other users. */
import { useCallback, useState } from 'react';
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Plan } from '../../shared/kube/fleet/plan-types.js';
import { ApiCallError } from '../api/api-call.js';
import { type Problem, problemsOf, readManifest } from './manifest-text.js';
import { checkWrite, fetchIfChanged, fetchPlan, prepareWrite, storeManifest } from './manifest-write.js';

/** A preview of applying exactly this text. */
export interface Preview {
  text: string;
  manifest: Record<string, unknown>;
  plan: Plan;
}

/** `firstBase` is the edited DaemonSet, or undefined for a new one. `onDone` receives the stored DaemonSet. */
export function useManifestEdit(
  firstBase: DaemonSet | undefined,
  firstText: string,
  onDone: (written: DaemonSet) => void,
) {
  const [base, setBase] = useState(firstBase);
  const [text, setText] = useState(firstText);
  const [problems, setProblems] = useState<readonly Problem[]>();
  const [preview, setPreview] = useState<Preview>();
  const [failure, setFailure] = useState('');
  const [theirs, setTheirs] = useState<DaemonSet>();

  const change = useCallback((next: string) => {
    setText(next);
    setProblems(undefined);
    setPreview(undefined);
    setFailure('');
  }, []);
  const check = useCallback(
    async (checked: string) => {
      const found = await problemsIn(checked, base);
      setProblems(found);
      return found;
    },
    [base],
  );

  /** Returns true if another user has changed the DaemonSet, and shows the conflict. */
  const isLate = async () => {
    const changed = base && (await fetchIfChanged(base));
    setTheirs(changed);
    if (changed) setPreview(undefined);
    return changed !== undefined;
  };
  const loadPreview = async () => {
    setFailure('');
    const read = readManifest(text);
    if ('problems' in read) return setProblems(read.problems);
    try {
      if (await isLate()) return;
      const plan = await fetchPlan(await prepareWrite(read.manifest, base));
      setPreview({ text, manifest: read.manifest, plan });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const apply = async ({ manifest }: Preview) => {
    try {
      onDone(await storeManifest(manifest, base));
    } catch (error) {
      if (!(error instanceof ApiCallError && error.reason === 'Conflict' && (await isLate()))) throw error;
    }
  };
  const settle = (merged: string, from: DaemonSet) => {
    setBase(from);
    setTheirs(undefined);
    change(merged);
  };
  return { base, text, problems, preview, failure, theirs, change, check, loadPreview, apply, settle };
}

/** Returns the problems of the text, or else those that the API reports. */
async function problemsIn(text: string, base: DaemonSet | undefined): Promise<readonly Problem[]> {
  const read = readManifest(text);
  if ('problems' in read) return read.problems;
  try {
    await checkWrite(await prepareWrite(read.manifest, base));
    return [];
  } catch (error) {
    // A conflict is not a problem of the text. It is resolved on apply.
    if (!(error instanceof ApiCallError) || error.reason === 'Conflict' || error.code === 0) return [];
    return problemsOf(text, error);
  }
}
