/** Column selection and saved views. The URL contains the columns; views are stored in the browser. */
import { type FormEvent, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import controls from '../../layout/controls.module.css';
import { CopyCommand } from '../../layout/text/copy-command.js';
import { MenuButton, MenuChoice } from '../../layout/widgets/menu-button.js';
import { PopoverButton, PopoverClose } from '../../layout/widgets/popover-button.js';
import { t } from '../../texts/translate.js';
import { COLUMNS, columnsText, type HostColumn, labelColumn } from './host-columns.js';
import classes from './table-settings.module.css';

interface TableSettingsProps {
  columns: readonly HostColumn[];
  /** Label keys that can be columns. */
  labels: readonly string[];
  onColumns: (text: string) => void;
}

export function TableSettings({ columns, labels, onColumns }: TableSettingsProps) {
  const offered = [...COLUMNS.filter(({ id }) => id !== 'name'), ...labels.map(labelColumn)];
  const toggle = (column: HostColumn) => {
    const isShown = columns.some(({ id }) => id === column.id);
    const next = isShown ? columns.filter(({ id }) => id !== column.id) : [...columns, column];
    onColumns(columnsText(next));
  };
  return (
    <div className={controls.row}>
      <MenuButton label="Columns">
        {offered.map((column) => (
          <MenuChoice
            key={column.id}
            label={column.name}
            isOn={columns.some(({ id }) => id === column.id)}
            onToggle={() => toggle(column)}
          />
        ))}
      </MenuButton>
      <SavedViews />
      <CopyCommand text="kubectl get hosts" />
    </div>
  );
}

const STORED_AS = 'everynode-views';

interface SavedView {
  name: string;
  query: string;
}

function SavedViews() {
  const [views, setViews] = useState(readViews);
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  const query = useSearch();
  const keep = (next: SavedView[]) => {
    setViews(next);
    localStorage.setItem(STORED_AS, JSON.stringify(next));
  };
  const save = (event: FormEvent) => {
    event.preventDefault();
    const others = views.filter((view) => view.name !== name.trim());
    keep([...others, { name: name.trim(), query }].sort((a, b) => (a.name < b.name ? -1 : 1)));
    setName('');
  };
  return (
    <PopoverButton label="Views">
      <div className={classes.views}>
        {views.length === 0 && (
          <p>No saved views in this browser. The URL contains the view and can be shared.</p>
        )}
        <ul>
          {views.map((view) => (
            <li key={view.name}>
              <PopoverClose
                className={controls.button}
                aria-current={view.query === query}
                onClick={() => navigate(view.query ? `/hosts?${view.query}` : '/hosts')}
              >
                {view.name}
              </PopoverClose>
              <button
                type="button"
                className={controls.button}
                aria-label={`Forget view ${view.name}`}
                onClick={() => keep(views.filter((each) => each !== view))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
        <form className={controls.row} onSubmit={save}>
          <input
            className={controls.input}
            aria-label="Name of this view"
            placeholder="name of this view"
            required
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className={controls.button}>
            {t('Save view')}
          </button>
        </form>
      </div>
    </PopoverButton>
  );
}

/** Ignore invalid entries, which another version or a user may have stored. */
function readViews(): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED_AS) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return stored.filter(({ name, query }) => typeof name === 'string' && typeof query === 'string');
  } catch {
    return [];
  }
}
