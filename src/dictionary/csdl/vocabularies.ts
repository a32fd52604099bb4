/** The vocabularies that `$metadata` uses: references to published ones, plat's own terms, and the annotations made of them. */
import type { Annotation, Term, Vocabulary, VocabularyReference } from './model.ts';

const PUBLISHED = 'https://oasis-tcs.github.io/odata-vocabularies/vocabularies/';

/** The OASIS vocabularies that documents use, under their customary aliases. */
export const REFERENCES: readonly VocabularyReference[] = [
  { namespace: 'Org.OData.Core.V1', alias: 'Core', uri: `${PUBLISHED}Org.OData.Core.V1` },
  {
    namespace: 'Org.OData.Capabilities.V1',
    alias: 'Capabilities',
    uri: `${PUBLISHED}Org.OData.Capabilities.V1`,
  },
];

const RESO_METADATA = 'RESO.OData.Metadata';
const MLS_METADATA = 'MLS.OData.Metadata';

const STANDARD_NAME: Term = {
  name: 'StandardName',
  appliesTo: 'Member',
  description: 'The value that the member of an enumeration stands for, as the Lookup resource has it.',
};

/**
 * Vocabularies that are not published anywhere as documents. A term must be defined for a document to be valid.
 *
 * @param hasMembers whether the document has members of enumerations
 */
export const ownVocabularies = (hasMembers: boolean): readonly Vocabulary[] => [
  {
    namespace: RESO_METADATA,
    terms: [
      {
        name: 'LookupName',
        appliesTo: 'Property',
        description: 'The values of this field are those of the Lookup resource with this LookupName.',
      },
      ...(hasMembers ? [STANDARD_NAME] : []),
    ],
  },
  {
    namespace: MLS_METADATA,
    terms: [
      {
        name: 'LocalName',
        appliesTo: 'Property',
        description:
          'Group and current name of a custom field. Where it differs from the name of the property, that is an older name.',
      },
    ],
  },
];

/** Annotates a field with the name under which the Lookup resource lists its values (RESO Data Dictionary 2.0, Lookup resource). */
export function lookupName(lookup: string): Annotation {
  return { term: `${RESO_METADATA}.LookupName`, value: lookup };
}

/** Annotates a member of an enumeration with the value that it stands for. */
export function standardName(value: string): Annotation {
  return { term: `${RESO_METADATA}.${STANDARD_NAME.name}`, value };
}

/** Annotates a custom field with its current name, `GROUP: FIELD` (specification 2.4, rule 2). */
export function localName(group: string, label: string): Annotation {
  return { term: `${MLS_METADATA}.LocalName`, value: `${group}: ${label}` };
}

/** Annotates a field that the service computes; no record of this resource stores it (specification 2.4, rule 1). */
export const COMPUTED: Annotation = { term: 'Core.Computed', value: true };

/** Capabilities of the whole service: plain reads, no batches, keys also as segments. */
export const CONTAINER_CAPABILITIES: readonly Annotation[] = [
  { term: 'Core.ODataVersions', value: '4.0 4.01' },
  { term: 'Capabilities.KeyAsSegmentSupported', value: true },
  { term: 'Capabilities.BatchSupported', value: false },
  { term: 'Capabilities.CrossJoinSupported', value: false },
  { term: 'Capabilities.AsynchronousRequestsSupported', value: false },
];

/** Capabilities of every entity set: it supports paging and is read-only. */
export const ENTITY_SET_CAPABILITIES: readonly Annotation[] = [
  { term: 'Capabilities.TopSupported', value: true },
  { term: 'Capabilities.SkipSupported', value: true },
  { term: 'Capabilities.InsertRestrictions', value: { Insertable: false } },
  { term: 'Capabilities.UpdateRestrictions', value: { Updatable: false } },
  { term: 'Capabilities.DeleteRestrictions', value: { Deletable: false } },
];

/** Annotates an entity set with its support for change tracking. */
export const changeTracking = (isSupported: boolean): Annotation => ({
  term: 'Capabilities.ChangeTracking',
  value: { Supported: isSupported },
});
