/** Floor of an agent's start: a process that opens a WebSocket over TLS. Arguments: PORT, file of the CA. */
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';

const [port, caFile = ''] = process.argv.slice(2);
const url = `wss://127.0.0.1:${port}/link`;
new WebSocket(url, { ca: readFileSync(caFile), perMessageDeflate: false }).on('open', () => undefined);
