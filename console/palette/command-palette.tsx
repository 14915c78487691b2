/** Command palette (Ctrl-K): navigation and user actions. Implements ARIA's combobox pattern. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { KubeObject } from '../../shared/kube/objects/meta.js';
import { callApi } from '../api/api-call.js';
import { isSignedInByCertificate } from '../api/signed-in-user.js';
import { applyTheme } from '../layout/shell/theme-storage.js';
import { signOut } from '../layout/shell/user-menu.js';
import classes from './command-palette.module.css';
import { type PaletteItem, type PaletteObjects, paletteItems } from './palette-items.js';

type Objects = Pick<PaletteObjects, 'daemonSets' | 'rollouts' | 'services'>;

const NOTHING: Objects = { daemonSets: [], rollouts: [], services: [] };

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
    <dialog ref={dialog} className={classes.palette} aria-label="Go to" onClose={onClose}>
      <input
        className={classes.field}
        role="combobox"
        aria-label="Go to a page, host, DaemonSet or rollout"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={items[chosen] ? `${id}-${chosen}` : undefined}
        placeholder="Page, host or rollout, or an action: cordon node-37"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={classes.list} id={`${id}-list`} role="listbox" aria-label="Where to">
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
            {item.text} <span>{item.hint}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** Loads the objects once, when the palette opens. Kinds without permission are omitted. */
function useObjects(): Objects {
  const [objects, setObjects] = useState(NOTHING);
  useEffect(() => {
    const abort = new AbortController();
    const list = (path: string) =>
      callApi<{ items: KubeObject[] }>(path, { signal: abort.signal }).then(
        ({ items }) => items,
        () => [],
      );
    void Promise.all([
      list('/apis/apps/v1/daemonsets'),
      list('/apis/fleet.everynode.dev/v1/rollouts'),
      list('/api/v1/services'),
    ]).then(([daemonSets, rollouts, services]) => {
      if (!abort.signal.aborted) setObjects({ daemonSets, rollouts, services });
    });
    return () => abort.abort();
  }, []);
  return objects;
}
