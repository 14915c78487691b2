/** The least that a server must do for a query over UDP: it sends each message back. `node bare-udp.js ADDRESS:PORT`. */
import { createSocket } from 'node:dgram';

const [address = '', port = ''] = (process.argv[2] ?? '').split(':');
const socket = createSocket('udp4');
socket.on('message', (message, from) => socket.send(message, from.port, from.address));
socket.bind(Number(port), address, () => process.stdout.write('serving\n'));
