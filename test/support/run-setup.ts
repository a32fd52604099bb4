/** What a run of all tests has once (`node --test --test-global-setup`): the PostgreSQL server that its files share. */
import { startServerOfRun } from './postgres-server.ts';

let end = async (): Promise<void> => undefined;

export async function globalSetup(): Promise<void> {
  const server = await startServerOfRun();
  end = () => server.stop('crash');
}

export const globalTeardown = (): Promise<void> => end();
