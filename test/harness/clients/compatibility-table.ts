/** Marks the table of clients in docs/differences-from-kubernetes.md, which `npm run compatibility` writes. */
export const TABLE_BEGIN = '<!-- clients: written by npm run compatibility -->';
export const TABLE_END = '<!-- end of clients -->';
