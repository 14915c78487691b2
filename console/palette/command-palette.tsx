/** Command palette (Ctrl-K): navigation and user actions. Implements ARIA's combobox pattern. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { FLEET_GROUP, type KubeObject } from '../../shared/kube/objects/meta.js';
import { isSignedInByCertificate } from '../api/signed-in-user.js';
import { useScopedResource } from '../api/use-scoped-resource.js';
import { applyTheme } from '../layout/shell/theme-storage.js';
import { signOut } from '../layout/shell/user-menu.js';
import { t, translated } from '../texts/translate.js';
import classes from './command-palette.module.css';
import { type PaletteItem, type PaletteObjects, paletteItems } from './palette-items.js';

type Objects = Omit<PaletteObjects, 'maySignOut'>;

const FLEET_API = `/apis/${FLEET_GROUP}/v1`;
/** The palette needs names. HostValues and manifests can be large. */
const ONLY_METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

interface CommandPaletteProps {
  onClose: () => void;
  onHelp: () => void;
}

export function CommandPalette({ onClose, onHelp }: CommandPaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const items = paletteItems(typed, { ...useObjects(), maySignOut: !isSignedInByCertificate() });
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => dialog.current?.showModal(), []);

  const perform = (item: PaletteItem | undefined) => {
    if (!item) return;
    dialog.current?.close();
    if ('go' in item) navigate(item.go);
    else if ('theme' in item) applyTheme(item.theme);
    else if (item.act === 'help') onHelp();
    else void signOut();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((chosen + step + items.length) % items.length);
    }
    if (event.key === 'Enter') perform(items[chosen]);
  };
  return (
    <dialog ref={dialog} className={classes.palette} aria-label={t('Go to')} onClose={onClose}>
      <input
        className={classes.field}
        role="combobox"
        aria-label={t('Go to a page, host, DaemonSet, rollout or job')}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={items[chosen] ? `${id}-${chosen}` : undefined}
        placeholder={t('Page, host or rollout, or an action: cordon node-37')}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={classes.list} id={`${id}-list`} role="listbox" aria-label={t('Where to')}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the focused input handles the keys
          <div
            key={item.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            className={classes.item}
            onPointerMove={() => setAt(index)}
            onClick={() => perform(item)}
          >
            {item.text} <span>{translated(item.hint)}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** Loads the objects once, when the palette opens. Kinds without permission are omitted. */
function useObjects(): Objects {
  return {
    daemonSets: useObjectsOf('/apis/apps/v1', 'daemonsets'),
    rollouts: useObjectsOf(FLEET_API, 'rollouts'),
    services: useObjectsOf('/api/v1', 'services'),
    daemonJobs: useObjectsOf(FLEET_API, 'daemonjobs'),
    cronDaemonJobs: useObjectsOf(FLEET_API, 'crondaemonjobs'),
    hostValues: useObjectsOf(FLEET_API, 'hostvalues'),
  };
}

function useObjectsOf(groupVersion: string, resource: string): readonly KubeObject[] {
  const list = { groupVersion, resource, version: 'once', accept: ONLY_METADATA };
  return useScopedResource<{ items: KubeObject[] }>(list).answer?.items ?? [];
}
