/** Filter of the fleet, and the label that groups the map. */
import controls from '../layout/controls.module.css';

interface FleetFilterProps {
  filterText: string;
  problem?: string;
  label: string;
  labels: readonly string[];
  onChange: (name: 'filter' | 'group', value: string) => void;
}

export function FleetFilter({ filterText, problem, label, labels, onChange }: FleetFilterProps) {
  return (
    <div className={controls.row}>
      <label>
        Filter{' '}
        <input
          className={controls.input}
          type="search"
          value={filterText}
          placeholder="site=kiel or a name"
          aria-invalid={problem !== undefined}
          data-shortcut="/"
          onChange={(event) => onChange('filter', event.target.value)}
        />
      </label>
      <label>
        Group by{' '}
        <select
          className={controls.input}
          value={label}
          onChange={(event) => onChange('group', event.target.value)}
        >
          <option value="">no grouping</option>
          {labels.map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
    </div>
  );
}
