/**
 * Files to which records refer. Files of this service are displayed. Others are only links, and only if they have a web address: a
 * record may contain any text as an address.
 */
import type { ComponentChildren } from 'preact';
import './files.css';

/** Every response contains the interface's own address. */
export interface InContext {
  readonly '@odata.context': string;
}

/**
 * The address of a file on the origin of this page, if this service serves it.
 *
 * @param context the response with the file, which contains the service's own address
 */
export function servedAddress(address: unknown, context: InContext): string | undefined {
  const own = context['@odata.context'];
  const root = own.slice(0, own.indexOf('/Reso/'));
  if (typeof address !== 'string' || !address.startsWith(`${root}/media/`)) return undefined;
  return address.slice(root.indexOf('/as/'));
}

/** The address of a file at the width at which it is displayed. */
export const atWidth = (address: string, width: number): string =>
  `${address}${address.includes('?') ? '&' : '?'}width=${width}`;

/** A web address; undefined for anything else, such as a script. */
export function webAddress(address: unknown): URL | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}

/** A link to a file, which opens in another tab; without a web address, its text. */
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
