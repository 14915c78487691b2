/** YAML editor of a HostValues object: checks while typing, shows the changes, then stores them. */
import { Suspense, useCallback, useState } from 'react';
import { stringify } from 'yaml';
import type { HostValues } from '../../shared/kube/host-values/host-values-types.js';
import { FLEET_GROUP } from '../../shared/kube/objects/meta.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { mergeManifest, type Problem, problemsOf, readManifest } from '../daemonsets/manifest-text.js';
import { ProblemList } from '../daemonsets/problem-list.js';
import controls from '../layout/controls.module.css';
import { lazyPage } from '../layout/lazy-page.js';
import { TextDiff } from '../layout/text/text-diff.js';
import { useUnsavedEdit } from '../layout/unsaved-edits.js';
import { t } from '../texts/translate.js';
import { valuesPath } from './value-text.js';
import classes from './values.module.css';

const YamlEditor = lazyPage(async () => (await import('../daemonsets/yaml-editor.js')).YamlEditor);

/** Returns an example to edit, in this namespace. */
export function firstValues(namespace: string): string {
  return `apiVersion: ${FLEET_GROUP}/v1
kind: HostValues
metadata:
  name: my-values
  namespace: ${namespace}
spec:
  priority: 0
  nodeSelector:
    matchLabels:
      site: kiel
  values:
    store: "4711"
`;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Returns the editable part as YAML. */
export function valuesText({ metadata, spec }: HostValues): string {
  const { name, namespace, labels, annotations = {} } = metadata;
  const { [LAST_APPLIED]: _, ...own } = annotations;
  const shown = { name, namespace, labels, ...(Object.keys(own).length > 0 ? { annotations: own } : {}) };
  return stringify(
    { apiVersion: `${FLEET_GROUP}/v1`, kind: 'HostValues', metadata: shown, spec },
    { lineWidth: 0 },
  );
}

/** `base`: the resourceVersion that is edited, so that a change of another user is not overwritten. */
function store(
  base: HostValues | undefined,
  manifest: Record<string, unknown>,
  isDryRun: boolean,
): Promise<HostValues> {
  const query = `?fieldValidation=Strict&fieldManager=everynode-console${isDryRun ? '&dryRun=All' : ''}`;
  if (!base) {
    const { namespace = 'default' } = (manifest.metadata ?? {}) as HostValues['metadata'];
    return callApi(`${valuesPath('hostvalues', namespace)}${query}`, { method: 'POST', body: manifest });
  }
  const { namespace = '', name } = base.metadata;
  const body = mergeManifest(base, manifest);
  return callApi(`${valuesPath('hostvalues', namespace)}/${name}${query}`, { method: 'PUT', body });
}

interface ValuesEditorProps {
  /** The edited object, or undefined for a new one. */
  base: HostValues | undefined;
  firstText: string;
  onDone: (written?: HostValues) => void;
}

export function ValuesEditor({ base: newest, firstText, onDone }: ValuesEditorProps) {
  // A later version of the object must not replace the one that the user has seen.
  const [base] = useState(newest);
  const [before] = useState(firstText);
  const [text, setText] = useState(firstText);
  const [problems, setProblems] = useState<readonly Problem[]>();
  const [failure, setFailure] = useState('');
  const dropEdit = useUnsavedEdit(text !== before);
  const check = useCallback(
    async (checked: string) => {
      const found = await problemsIn(checked, base);
      setProblems(found);
      return found;
    },
    [base],
  );
  const leave = (written?: HostValues) => {
    dropEdit();
    onDone(written);
  };
  const save = async () => {
    const read = readManifest(text);
    if ('problems' in read) return setProblems(read.problems);
    setFailure('');
    try {
      leave(await store(base, read.manifest, false));
    } catch (error) {
      const isLate = error instanceof ApiCallError && error.reason === 'Conflict';
      setFailure(
        isLate
          ? t(
              'Another user has changed these values. Nothing was saved. Copy your text, discard the changes, and edit again.',
            )
          : error instanceof Error
            ? error.message
            : String(error),
      );
    }
  };
  return (
    <>
      <div className={classes.editor}>
        <Suspense fallback={<p role="status">{t('Loading the editor…')}</p>}>
          <YamlEditor
            label="Manifest as YAML"
            text={text}
            check={check}
            onChange={(next) => {
              setText(next);
              setProblems(undefined);
            }}
          />
        </Suspense>
      </div>
      <ProblemList problems={problems} />
      {base && text !== before && <TextDiff label="Changes" before={before} after={text} />}
      <div className={controls.row}>
        <button
          type="button"
          className={controls.button}
          data-main
          disabled={problems?.length !== 0 || (base !== undefined && text === before)}
          onClick={() => void save()}
        >
          {base ? t('Save') : t('Create')}
        </button>
        <button type="button" className={controls.button} onClick={() => leave()}>
          {t('Discard changes')}
        </button>
      </div>
      {failure && (
        <p role="alert" className={controls.problem}>
          {failure}
        </p>
      )}
    </>
  );
}

/** Returns the problems of the text, or else those that the API reports. */
async function problemsIn(text: string, base: HostValues | undefined): Promise<readonly Problem[]> {
  const read = readManifest(text);
  if ('problems' in read) return read.problems;
  try {
    await store(base, read.manifest, true);
    return [];
  } catch (error) {
    // A conflict is not a problem of the text. It is reported on save.
    if (!(error instanceof ApiCallError) || error.reason === 'Conflict' || error.code === 0) return [];
    return problemsOf(text, error);
  }
}
