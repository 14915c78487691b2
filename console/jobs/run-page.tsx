/** Form that runs a command once on hosts. It shows how many hosts match before anything runs. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { DaemonJob } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import type { DaemonJobPreview } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { callApi } from '../api/api-call.js';
import { ConfirmDialog } from '../layout/confirm-dialog.js';
import controls from '../layout/controls.module.css';
import { useNewObjectNamespace } from '../layout/namespace-filter.js';
import { Page } from '../layout/shell/page.js';
import { CopyCommand } from '../layout/text/copy-command.js';
import { useUnsavedEdit } from '../layout/unsaved-edits.js';
import { RichText } from '../texts/rich-text.js';
import { counted, t } from '../texts/translate.js';
import { jobsPath } from './job-text.js';
import { commandOfDraft, firstDraft, jobOfDraft, type RunDraft } from './run-draft.js';
import { RunFields } from './run-fields.js';
import { useJobPreview } from './use-job-preview.js';

export function RunPage() {
  const [, go] = useLocation();
  const namespaceAtFirst = useNewObjectNamespace();
  const [first] = useState(() => firstDraft(namespaceAtFirst));
  const [draft, setDraft] = useState<RunDraft>(first);
  const [isConfirming, setConfirming] = useState(false);
  const dropEdit = useUnsavedEdit(draft !== first);
  const namespace = draft.namespace.trim() || 'default';
  const drafted = jobOfDraft(draft);
  const { preview, problem } = useJobPreview(drafted, namespace);

  const run = async () => {
    if ('problem' in drafted) throw new Error(drafted.problem);
    const body = drafted.job;
    const { metadata } = await callApi<DaemonJob>(jobsPath('daemonjobs', namespace), {
      method: 'POST',
      body,
    });
    dropEdit();
    go(`/jobs/${namespace}/${metadata.name}`);
  };
  return (
    <Page title="Run on hosts">
      <p>
        <Link href="/jobs">{t('Jobs')}</Link>
      </p>
      <h1>{t('Run on hosts')}</h1>
      <section className={controls.card} aria-label={t('Job')}>
        <RunFields draft={draft} onChange={(change) => setDraft({ ...draft, ...change })} />
      </section>
      <section className={controls.card} aria-label={t('Preview')}>
        <h2>{t('Hosts')}</h2>
        <PreviewText problem={'problem' in drafted ? drafted.problem : problem} preview={preview} />
        <div className={controls.row}>
          <button
            type="button"
            className={controls.button}
            data-main
            disabled={!preview || preview.eligible === 0}
            onClick={() => setConfirming(true)}
          >
            {preview
              ? t('Run on {{hosts}}', { hosts: counted('{{count}} hosts', preview.eligible) })
              : t('Run')}
          </button>
        </div>
      </section>
      <CopyCommand text={commandOfDraft(draft)} />
      {isConfirming && preview && (
        <ConfirmDialog
          question={{
            title: t('Run on {{hosts}}?', { hosts: counted('{{count}} hosts', preview.eligible) }),
            text: (
              <p>
                <RichText
                  text="<command/> runs once on each of them, in the image <image/>. Hosts that have not started within an hour are missed."
                  parts={{
                    command: <code>{draft.command.trim() || t('The command of the image')}</code>,
                    image: <code>{draft.image.trim()}</code>,
                  }}
                />
              </p>
            ),
            act: 'Run',
            reason: 'none',
            perform: run,
          }}
          onClose={() => setConfirming(false)}
        />
      )}
    </Page>
  );
}

interface PreviewTextProps {
  problem: string | undefined;
  preview: DaemonJobPreview | undefined;
}

function PreviewText({ problem, preview }: PreviewTextProps) {
  if (problem) return <p role="status">{problem}</p>;
  if (!preview) return <p role="status">{t('Counting the hosts…')}</p>;
  const { eligible, hosts, offline, nodes } = preview;
  if (eligible === 0)
    return <p role="status">{t('No host matches. Check the labels, or taints of the hosts.')}</p>;
  const more = eligible - nodes.length;
  return (
    <>
      <p role="status">
        {counted('{{count}} of {{hosts}} match.', eligible, { hosts: counted('{{count}} hosts', hosts) })}
        {offline > 0 && ` ${counted('{{count}} hosts of them are offline now.', offline)}`}
      </p>
      <p className={controls.dim}>
        {nodes.join(', ')}
        {more > 0 && ` and ${more} more`}
      </p>
    </>
  );
}
