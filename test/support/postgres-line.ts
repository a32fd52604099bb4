import { mkdirSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { temporaryFile } from './temporary.ts';

/** The connections of one process to a server, which a test can cut. */
export interface Line {
  /** The address that the process uses. */
  readonly address: string;
  /** Called for every chunk that the process sends; if it does not pass, it may or may not be sent. */
  passes: () => 'passes' | 'cut' | 'dead';
  /** Resolves when the server has closed its side of all connections that were cut. */
  settled(): Promise<unknown>;
  /** Cuts all connections and accepts no more. Resolves when the server has closed its side of each. */
  end(): Promise<unknown>;
  close(): void;
}

/** The name of the socket in its folder, by PostgreSQL's usual port. */
const SOCKET = '.s.PGSQL.5432';

/** @param address of a database that is reached through a socket in a folder */
export async function openLine(address: string): Promise<Line> {
  const url = new URL(address);
  const target = join(url.searchParams.get('host') ?? '', SOCKET);
  const folder = temporaryFile('');
  mkdirSync(folder);
  url.searchParams.set('host', folder);
  const pairs = new Map<Socket, { readonly far: Socket; readonly ended: Promise<void> }>();
  const endings = new Set<Promise<void>>();
  let isOver = false;
  let deaths = 0;

  const cut = (): void => {
    for (const [near, { far, ended }] of pairs) {
      endings.add(ended);
      near.destroy();
      // The server sees the end of the connection once it has processed everything that was sent before.
      far.end();
    }
    pairs.clear();
  };
  const settled = (): Promise<unknown> => Promise.all(endings);
  const server = createServer((near) => {
    near.on('error', () => undefined);
    if (isOver) {
      near.destroy();
      return;
    }
    const far = connect(target);
    const ended = new Promise<void>((resolve) => far.once('close', () => resolve()));
    pairs.set(near, { far, ended });
    far.on('error', () => near.destroy());
    // The data must be read to its end for the end to be seen.
    far.on('data', (part) => (near.destroyed ? false : near.write(part)));
    far.on('close', () => {
      near.destroySoon();
      pairs.delete(near);
      endings.delete(ended);
    });
    near.on('close', () => far.end());
    near.on('data', (part) => {
      if (near.destroyed) return;
      const passage = line.passes();
      // Every other time, the connection is cut after the chunk has been sent.
      if (passage === 'passes' || ++deaths % 2 === 0) far.write(part);
      if (passage === 'passes') return;
      isOver ||= passage === 'dead';
      cut();
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve));
  const end = (): Promise<unknown> => {
    isOver = true;
    cut();
    return settled();
  };
  const line: Line = {
    address: url.href,
    passes: () => 'passes',
    settled,
    end,
    close: () => {
      void end();
      server.close();
    },
  };
  return line;
}
