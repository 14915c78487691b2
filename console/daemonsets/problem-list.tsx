/** What is wrong with the manifest in an editor. Undefined: the check has not ended. */
import controls from '../layout/controls.module.css';
import type { Problem } from './manifest-text.js';

export function ProblemList({ problems }: { problems: readonly Problem[] | undefined }) {
  if (!problems) return <p role="status">Checking…</p>;
  if (problems.length === 0) return <p role="status">The manifest is valid.</p>;
  return (
    <ul role="alert" aria-label="Problems" className={controls.problem}>
      {problems.map(({ line, message }) => (
        <li key={`${line}:${message}`}>
          Line {line}: {message}
        </li>
      ))}
    </ul>
  );
}
