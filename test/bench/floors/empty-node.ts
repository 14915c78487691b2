/** Floor of a program's memory: an idle Node.js process. */
setInterval(() => undefined, 2 ** 30);
process.stdout.write('waiting\n');
