/** Compares the templates of two revisions side by side. The URL contains the selection. */
import { stringify } from 'yaml';
import type { ControllerRevision } from '../../../shared/kube/daemonsets/daemonset-types.js';
import controls from '../../layout/controls.module.css';
import { CopyCommand } from '../../layout/text/copy-command.js';
import { SideBySideDiff } from '../../layout/text/side-by-side-diff.js';
import { useUrlQuery } from '../../layout/use-url-query.js';

interface CompareRevisionsProps {
  namespace: string;
  name: string;
  /** Newest first. At least two. */
  revisions: readonly ControllerRevision[];
}

export function CompareRevisions({ namespace, name, revisions }: CompareRevisionsProps) {
  const [query, setQuery] = useUrlQuery();
  const [newest, previous] = revisions;
  const find = (number: string | null) => revisions.find(({ revision }) => String(revision) === number);
  const before = find(query.get('from')) ?? previous;
  const after = find(query.get('to')) ?? newest;
  if (!before || !after) return null;
  const choice = (key: 'from' | 'to', label: string, { revision }: ControllerRevision) => (
    <label>
      {label}{' '}
      <select
        className={controls.input}
        value={revision}
        onChange={(event) => setQuery(key, event.target.value)}
      >
        {revisions.map((each) => (
          <option key={each.revision}>{each.revision}</option>
        ))}
      </select>
    </label>
  );
  return (
    <details open={query.has('from') || query.has('to')}>
      <summary>Compare revisions</summary>
      <div className={controls.row}>
        {choice('from', 'From', before)}
        {choice('to', 'to', after)}
      </div>
      <SideBySideDiff
        label={`From revision ${before.revision} to ${after.revision}`}
        before={{ name: `Revision ${before.revision}`, text: templateText(before) }}
        after={{ name: `Revision ${after.revision}`, text: templateText(after) }}
      />
      <CopyCommand
        text={`kubectl -n ${namespace} rollout history daemonset/${name} --revision=${after.revision}`}
      />
    </details>
  );
}

/** A revision contains a patch of the template (`pkg/controller/daemon/update.go` getPatch). */
export function templateText({ data }: ControllerRevision): string {
  const { spec } = (data ?? {}) as { spec?: { template?: Record<string, unknown> } };
  const { $patch: _, ...template } = spec?.template ?? {};
  return stringify(template, { lineWidth: 0 });
}
