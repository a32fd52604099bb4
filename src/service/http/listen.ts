/**
 * Plans where the surfaces of a service listen: each at its own address, or the public ones at a shared address, distinguished by
 * host names.
 */
import { createSecureContext } from 'node:tls';
import { usageError } from '../../errors/index.ts';
import { PUBLIC_SURFACES, type SurfaceName } from '../surface.ts';
import type { Dispatch } from './listener.ts';

/** Where the surfaces listen. With port 0, the system chooses a free port. */
export interface ListenOptions {
  readonly host: string;
  readonly adminHost: string;
  readonly ports: Readonly<Record<SurfaceName, number>>;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /**
   * Host names that distinguish the surfaces that share the listener of `api`; `api` itself must be among them. A public surface
   * that is not listed keeps its own listener. Absent: every surface has its own.
   */
  readonly hosts?: Readonly<Partial<Record<SurfaceName, string>>>;
  /** How long requests in progress may continue after the service starts to close, in milliseconds. */
  readonly closingPatience?: number;
}

interface PlannedListener {
  readonly surfaces: readonly SurfaceName[];
  readonly host: string;
  readonly port: number;
  readonly dispatch: Dispatch;
}

/** The listeners of a service, each with the surfaces that it serves. @throws PlatError `usage` if `hosts` lacks api */
export function planListeners({ host, adminHost, ports, hosts = {} }: ListenOptions): PlannedListener[] {
  const own = (name: SurfaceName, at: string): PlannedListener => {
    return { surfaces: [name], host: at, port: ports[name], dispatch: () => name };
  };
  const named = PUBLIC_SURFACES.filter((name) => hosts[name] !== undefined);
  if (named.length > 0 && hosts.api === undefined) {
    throw usageError('hosts distinguishes surfaces on the port of api, so it must include api.');
  }
  const byHost = new Map(named.map((name) => [(hosts[name] ?? '').toLowerCase(), name]));
  const shared: PlannedListener = {
    surfaces: named,
    host,
    port: ports.api,
    dispatch: (given) => byHost.get((given ?? '').replace(/:\d*$/, '').toLowerCase()),
  };
  return [
    ...(named.length > 0 ? [shared] : []),
    ...PUBLIC_SURFACES.filter((name) => hosts[name] === undefined).map((name) => own(name, host)),
    own('admin', adminHost),
  ];
}

/** @throws PlatError `usage` */
export function checkTls(tls: NonNullable<ListenOptions['tls']>): void {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const reason = 'The TLS certificate and key cannot be used: they are not in PEM format, or do not match.';
    throw usageError(reason, { cause });
  }
}
