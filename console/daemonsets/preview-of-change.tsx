/** What a change of a DaemonSet would do: the difference of the manifest, and the plan. */
import type { DaemonSet } from '../../shared/kube/daemonsets/daemonset-types.js';
import type { Plan } from '../../shared/kube/fleet/plan-types.js';
import { countText } from '../../shared/kube/objects/meta.js';
import type { Confirmation } from '../layout/confirm-dialog.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { TextDiff } from '../layout/text/text-diff.js';
import { manifestText } from './manifest-text.js';
import { changingHosts, PlanSummary } from './plan-summary.js';
import type { Preview } from './use-manifest-edit.js';

interface PreviewOfChangeProps {
  base: DaemonSet | undefined;
  preview: Preview;
}

export function PreviewOfChange({ base, preview: { text, plan } }: PreviewOfChangeProps) {
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

/** The confirmation before a change is stored. */
export function applyQuestion(
  base: DaemonSet | undefined,
  plan: Plan,
  perform: () => Promise<void>,
): Confirmation {
  const hosts = changingHosts(plan);
  return {
    title: base ? `Apply changes to ${base.metadata.name}?` : 'Create this DaemonSet?',
    text: <p>{countText(hosts, 'host changes', 'hosts change')}, by the current policy.</p>,
    act: base ? 'Apply' : 'Create',
    reason: 'none',
    perform,
  };
}
