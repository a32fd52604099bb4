import { readdirSync, readFileSync } from 'node:fs';
import { Client } from 'pg';

/** Milliseconds of a tick in the kernel's accounting of CPU time. */
const TICK = 10;

/** The parent of all processes of a server. */
export async function postmasterOf(address: string): Promise<string> {
  const client = new Client({ connectionString: address });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const [, parent] = fieldsOf(String(rows[0]?.pid));
  await client.end();
  if (parent === undefined) throw new Error('The server is not on this machine');
  return parent;
}

/** The CPU time that the processes of a server have used since they started, in milliseconds. */
export function usedBy(postmaster: string): number {
  const own = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && fieldsOf(name)[1] === postmaster);
  const ticks = [
    ...own.flatMap((name) => fieldsOf(name).slice(11, 13)),
    ...fieldsOf(postmaster).slice(11, 15),
  ];
  return ticks.reduce((sum, text) => sum + Number(text), 0) * TICK;
}

/** The fields of a process from its state on (proc(5)); none if it has just ended. */
function fieldsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return [];
  }
}
