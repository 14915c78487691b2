/** Floor of a program's memory: Node that waits. */
setInterval(() => undefined, 2 ** 30);
process.stdout.write('waiting\n');
