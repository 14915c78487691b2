/** Page for unknown URLs. */
import { Link } from 'wouter';
import { PageShell } from './page-shell.js';

export function NotFoundPage() {
  return (
    <PageShell title="Page not found">
      <h1>Page not found</h1>
      <p>
        The URL is wrong, or the object was removed. <Link href="/">Go to the overview</Link>
      </p>
    </PageShell>
  );
}
