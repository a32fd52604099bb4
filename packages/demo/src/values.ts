/**
 * The values that a record of the market is made of: plain JSON, as an import reads it. It knows no dictionary, so that
 * the package depends on nothing of plat.
 */

export type FieldValue = string | number | boolean | null | readonly string[];

/** A record as its fields: an absent field is null. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** A field of the market that the RESO Data Dictionary lacks, as plat's configuration declares one. */
export interface CustomFieldDeclaration {
  readonly resource: string;
  readonly name: string;
  readonly section: 'Main' | 'Details';
  readonly group: string;
  readonly label: string;
  /** As in plat's configuration: `string(50)`, `decimal(10,2)`, `string(50)[]`. */
  readonly type: string;
  readonly lookup?: string;
  /** Which roles see it. */
  readonly class?: string;
}

/** A lookup of the market, or values that it adds to one of the dictionary. */
export interface LookupDeclaration {
  readonly lookup: string;
  readonly values: readonly string[];
}
