import { AuxiliaryFailure, RequestFailure } from '../../http/failure.ts';
import type { ForeignField } from '../source.ts';
import { customValues } from './listing-json.ts';

/** From group and label of a custom field to its API name. */
export interface CustomNames {
  nameOf(group: string, label: string): string;
  /**
   * Asks the source for its fields again if a listing has one that is not known: it may have been renamed meanwhile.
   * @throws AuxiliaryFailure
   */
  meet(listings: readonly Readonly<Record<string, unknown>>[]): Promise<void>;
}

type Named = Pick<ForeignField, 'group' | 'label' | 'name'>;

const pairOf = (group: string, label: string): string => `${group}\u0000${label}`;

/** @param ask gives the source's custom fields as they are called now */
export function makeCustomNames(fields: readonly Named[], ask: () => Promise<readonly Named[]>): CustomNames {
  const names = new Map<string, string>();
  const learn = (given: readonly Named[]): void => {
    for (const { group, label, name } of given) names.set(pairOf(group, label), name);
  };
  learn(fields);
  return {
    nameOf: (group, label) => names.get(pairOf(group, label)) ?? apiName(group, label),
    async meet(listings) {
      const unknown = new Map<string, string>();
      const look = (group: string, label: string): string => {
        if (!names.has(pairOf(group, label))) unknown.set(pairOf(group, label), apiName(group, label));
        return '';
      };
      for (const listing of listings) customValues(listing, look);
      if (unknown.size === 0) return;
      learn(await ask().catch(asAuxiliary));
      // What the source does not list has a name made of its own, for good.
      for (const [pair, name] of unknown) if (!names.has(pair)) names.set(pair, name);
    },
  };
}

function asAuxiliary(error: unknown): never {
  if (!(error instanceof RequestFailure)) throw error;
  throw new AuxiliaryFailure('The names of custom fields could not be read', error);
}

/** An API name for a custom field that has none. */
export function apiName(group: string, label: string): string {
  const words = `${group} ${label}`
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .split(' ');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return /^[A-Za-z]/.test(name) ? name : `Custom${name}`;
}
