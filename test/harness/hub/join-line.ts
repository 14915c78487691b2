/** Reads the token in a join line, as `everynode token create` and the console print it. */

/** Returns `ID.SECRET.CAHASH`. Throws for a line without a token, and for one with the token as an argument. */
export function tokenInLine(line: string): string {
  const [, token] =
    /^(?:\{ )?echo (?:EVERYNODE_TOKEN=)?(\w+\.\w+\.[0-9a-f]{64})(?:; | \| )/.exec(line.trim()) ?? [];
  if (token === undefined) throw new Error(`this is no join line: ${line}`);
  if (line.split(token).length !== 2) throw new Error(`the token is in this line twice: ${line}`);
  return token;
}
