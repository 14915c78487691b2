/** Page for unknown URLs. */
import { Link } from 'wouter';
import { PageShell } from './page-shell.js';

export function NotFoundPage() {
  return (
    <PageShell>
      <h1>Nothing is here</h1>
      <p>
        The address may be mistyped, or what it showed was removed. <Link href="/">Go to the fleet</Link>
      </p>
    </PageShell>
  );
}
