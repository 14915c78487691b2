/** Command palette (Ctrl-K): navigation and user actions. Base UI handles the keys and roles of the list. */
import { Autocomplete } from '@base-ui/react/autocomplete';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { FLEET_GROUP, type KubeObject } from '../../shared/kube/objects/meta.js';
import { isSignedInByCertificate } from '../api/signed-in-user.js';
import { useScopedResource } from '../api/use-scoped-resource.js';
import { applyTheme } from '../layout/shell/theme-storage.js';
import { signOut } from '../layout/shell/user-menu.js';
import { ModalDialog } from '../layout/widgets/modal-dialog.js';
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
  const [typed, setTyped] = useState('');
  const [, navigate] = useLocation();
  const items = paletteItems(typed, { ...useObjects(), maySignOut: !isSignedInByCertificate() });

  const perform = (item: PaletteItem) => {
    onClose();
    if ('go' in item) navigate(item.go);
    else if ('theme' in item) applyTheme(item.theme);
    else if (item.act === 'help') onHelp();
    else void signOut();
  };
  return (
    <ModalDialog label={t('Go to')} shape="list" onClose={onClose}>
      <Autocomplete.Root
        inline
        open
        mode="none"
        autoHighlight="always"
        keepHighlight
        items={items}
        value={typed}
        // A chosen item must not be shown as the typed text while the palette closes.
        onValueChange={(text, { reason }) => reason !== 'item-press' && setTyped(text)}
      >
        <Autocomplete.Input
          className={classes.field}
          aria-label={t('Go to a page, host, DaemonSet, rollout or job')}
          placeholder={t('Page, host or rollout, or an action: cordon node-37')}
          spellCheck={false}
        />
        <Autocomplete.List className={classes.list} aria-label={t('Where to')}>
          {(item: PaletteItem) => (
            <Autocomplete.Item
              key={item.id}
              value={item}
              className={classes.item}
              onClick={() => perform(item)}
            >
              {item.text} <span>{translated(item.hint)}</span>
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
    </ModalDialog>
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
