/** Changes the image of a container in one field, with the preview of the manifest editor. */
import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { ConfirmDialog } from '../../layout/confirm-dialog.js';
import controls from '../../layout/controls.module.css';
import { useUnsavedEdit } from '../../layout/unsaved-edits.js';
import { manifestText } from '../manifest-text.js';
import { applyQuestion, PreviewOfChange } from '../preview-of-change.js';
import { useManifestEdit } from '../use-manifest-edit.js';
import { withImage } from './image-change.js';

interface ChangeImageProps {
  daemonSet: DaemonSet;
  /** `isSaved` is false if the user cancelled. */
  onDone: (isSaved: boolean) => void;
}

export function ChangeImage({ daemonSet, onDone }: ChangeImageProps) {
  const { containers } = daemonSet.spec.template.spec;
  const [container, setContainer] = useState(containers[0]?.name ?? '');
  const present = containers.find(({ name }) => name === container)?.image ?? '';
  const [image, setImage] = useState(present);
  /** The change that is previewed. Each attempt loads the preview, also the same one after a failure. */
  const [asked, setAsked] = useState<{ attempt: number; change: DaemonSet }>();
  const attempts = useRef(0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempts.current += 1;
    setAsked({ attempt: attempts.current, change: withImage(daemonSet, container, image) });
  };
  const drop = useUnsavedEdit(image.trim() !== present);
  const leave = (isSaved: boolean) => {
    drop();
    onDone(isSaved);
  };
  return (
    <section className={controls.card} aria-label="Change image">
      <h2>Change image</h2>
      <form className={controls.row} onSubmit={submit}>
        {containers.length > 1 && (
          <label>
            Container{' '}
            <select
              className={controls.input}
              value={container}
              onChange={({ target }) => {
                setContainer(target.value);
                setImage(containers.find(({ name }) => name === target.value)?.image ?? '');
                setAsked(undefined);
              }}
            >
              {containers.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <input
          className={controls.input}
          aria-label={`Image of ${container}`}
          size={Math.max(image.length + 2, 30)}
          required
          spellCheck={false}
          autoComplete="off"
          value={image}
          onChange={({ target }) => {
            setImage(target.value);
            setAsked(undefined);
          }}
        />
        <button
          type="submit"
          className={controls.button}
          data-main={!asked}
          disabled={image.trim() === '' || image.trim() === present}
        >
          Preview changes
        </button>
        <button type="button" className={controls.button} onClick={() => leave(false)}>
          Cancel
        </button>
      </form>
      {asked && (
        <ImagePreview
          key={asked.attempt}
          base={daemonSet}
          text={manifestText(asked.change)}
          onDone={() => leave(true)}
        />
      )}
    </section>
  );
}

interface ImagePreviewProps {
  base: DaemonSet;
  text: string;
  onDone: () => void;
}

function ImagePreview({ base, text, onDone }: ImagePreviewProps) {
  const { preview, failure, problems, theirs, loadPreview, apply } = useManifestEdit(base, text, onDone);
  const [isConfirming, setConfirming] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the preview is loaded once for each text
  useEffect(() => {
    void loadPreview();
  }, [text]);
  const problem =
    failure ||
    problems?.map(({ message }) => message).join(' ') ||
    (theirs && 'Another user has changed this DaemonSet. Cancel, and change the image again.');
  if (problem)
    return (
      <p role="alert" className={controls.problem}>
        {problem}
      </p>
    );
  if (!preview) return <p role="status">Loading the preview…</p>;
  return (
    <>
      <PreviewOfChange base={base} preview={preview} />
      {preview.plan.refused.length === 0 && (
        <button type="button" className={controls.button} data-main onClick={() => setConfirming(true)}>
          Apply
        </button>
      )}
      {isConfirming && (
        <ConfirmDialog
          question={applyQuestion(base, preview.plan, () => apply(preview))}
          onClose={() => setConfirming(false)}
        />
      )}
    </>
  );
}
