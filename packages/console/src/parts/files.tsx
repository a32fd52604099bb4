/**
 * Files that records name. Those that this service serves are shown; all others are links at most, and only to addresses of the
 * web: a record may hold any text as an address.
 */
import type { ComponentChildren } from 'preact';
import './files.css';

/** What an interface says of its own address in every answer. */
export interface InContext {
  readonly '@odata.context': string;
}

/**
 * The address of a file on the origin of this page, if the service serves it.
 * @param context the response that named the file, by which the service says what its own address is
 */
export function servedAddress(address: unknown, context: InContext): string | undefined {
  const own = context['@odata.context'];
  const root = own.slice(0, own.indexOf('/Reso/'));
  if (typeof address !== 'string' || !address.startsWith(`${root}/media/`)) return undefined;
  return address.slice(root.indexOf('/as/'));
}

/** The address of a file with the width at which it is shown. */
export const atWidth = (address: string, width: number): string =>
  `${address}${address.includes('?') ? '&' : '?'}width=${width}`;

/** An address of the web; undefined for anything else, such as a script. */
export function webAddress(address: unknown): URL | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}

/** A link to a file, which opens beside the console; without an address of the web, its text. */
export function FileLink({
  address,
  served,
  children,
}: {
  readonly address: unknown;
  readonly served: string | undefined;
  readonly children: ComponentChildren;
}) {
  const url = served === undefined ? webAddress(address) : undefined;
  if (served === undefined && url === undefined)
    return (
      <>
        {children} <span class="hint-inline">({typeof address === 'string' ? address : 'no address'})</span>
      </>
    );
  return (
    <>
      <a href={served ?? url?.href} target="_blank" rel="noreferrer noopener">
        {children}
        <span class="visually-hidden"> (opens a new tab)</span>
      </a>
      {url === undefined ? null : <span class="hint-inline"> on {url.host}</span>}
    </>
  );
}
