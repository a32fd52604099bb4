import { mkdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFile } from './temporary.ts';

/** The connections of one process to a server, which a test can cut. */
export interface Line {
  /** Where the process finds the database. */
  readonly address: string;
  /** Asked with every part that the process sends. False: it has died, with the part sent or not. */
  passes: () => boolean;
  /** Ends the process's connections and takes no more. Resolves when the server has ended its side of each. */
  cut(): Promise<void>;
  close(): void;
}

/** The name of the socket in its folder, by PostgreSQL's usual port. */
const SOCKET = '.s.PGSQL.5432';

/** @param address of a database that is reached by a socket in a folder */
export async function openLine(address: string): Promise<Line> {
  const url = new URL(address);
  const target = join(url.searchParams.get('host') ?? '', SOCKET);
  const folder = temporaryFile('');
  mkdirSync(folder);
  url.searchParams.set('host', folder);
  const pairs = new Set<readonly [Socket, Socket]>();
  const endings: Promise<void>[] = [];
  let isCut = false;
  let parts = 0;

  const hangUp = (): void => {
    isCut = true;
    for (const [near, far] of pairs) {
      near.destroy();
      // The server reads that nobody is there any more once it has done what it was told before.
      far.end();
    }
    pairs.clear();
  };
  const server = createServer((near) => {
    const far = connect(target);
    const pair = [near, far] as const;
    near.on('error', () => undefined);
    far.on('error', () => near.destroy());
    if (isCut) {
      near.destroy();
      far.destroy();
      return;
    }
    pairs.add(pair);
    endings.push(new Promise((resolve) => far.once('close', () => resolve())));
    near.on('data', (part) => {
      if (isCut) return;
      const lives = line.passes();
      // Every other death comes after the part is on its way.
      if (lives || ++parts % 2 === 0) far.write(part);
      if (!lives) hangUp();
    });
    near.on('close', () => far.end());
    // Read to its end in any case, which is how its end is seen.
    far.on('data', (part) => (near.destroyed ? false : near.write(part)));
    far.on('close', () => {
      near.destroySoon();
      pairs.delete(pair);
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve));
  const line: Line = {
    address: url.href,
    passes: () => true,
    cut: async () => {
      hangUp();
      await Promise.all(endings);
    },
    close: () => {
      hangUp();
      server.close();
    },
  };
  return line;
}
