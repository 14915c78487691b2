/** What to do in a fleet without hosts. */
import { Link } from 'wouter';
import { ACCESS, useIsAllowed } from '../api/access-checks.js';
import controls from '../layout/controls.module.css';

export function NoHosts() {
  const mayMake = useIsAllowed(ACCESS.makeTokens);
  return (
    <section className={controls.card}>
      <h2>No hosts yet</h2>
      <p>
        {mayMake ? (
          <>
            <Link href="/onboarding">Create a join command</Link> and run it on a host. The host appears here
            once it has joined. <code>everynode token create</code> also prints one.
          </>
        ) : (
          'Hosts appear here once they have joined. You are not allowed to create join commands; this needs permission to create Secrets in kube-system.'
        )}
      </p>
    </section>
  );
}
