/** A page's content and its title. */
import type { ReactNode } from 'react';
import { translated } from '../../texts/translate.js';
import { useInboxCount } from './inbox-count.js';

interface PageProps {
  /** Title of the browser's tab, between the number of items in the inbox and the product's name. */
  title: string;
  children: ReactNode;
}

export function Page({ title, children }: PageProps) {
  const count = useInboxCount();
  return (
    <>
      <title>{`${count > 0 ? `(${count}) ` : ''}${translated(title)} – Everynode`}</title>
      {children}
    </>
  );
}
