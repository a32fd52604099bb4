import { platError } from '../../errors/index.ts';

export type ODataVersion = '4.0' | '4.01';

/** The header of a response whose request asked for no other version, or could not be read. */
export const ODATA_VERSION = { 'odata-version': '4.01' } as const;

/**
 * The version that a response is given in (OData 4.01 protocol, 8.1.5 and 8.2.6).
 * @throws PlatError `versionUnsupported` for a request in a version that is unknown or newer
 */
export function negotiateVersion(version: string | undefined, maxVersion: string | undefined): ODataVersion {
  if (version !== undefined && version !== '4.0' && version !== '4.01') {
    throw platError('versionUnsupported', { version });
  }
  if (maxVersion !== undefined) {
    const number = /^\d+(\.\d+)?$/.test(maxVersion) ? Number(maxVersion) : Number.NaN;
    if (Number.isNaN(number) || number < 4) throw platError('versionUnsupported', { version: maxVersion });
    if (number < 4.01) return '4.0';
  }
  return version ?? '4.01';
}
