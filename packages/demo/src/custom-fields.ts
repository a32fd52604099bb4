import type { CustomFieldDeclaration, LookupDeclaration } from './values.ts';

/** The demo market's own fields: what the dictionary has no name for on this shore. */
export const CUSTOM_FIELDS: readonly CustomFieldDeclaration[] = [
  field('Winter_SnowRemoval', 'Main', 'Winter', 'Snow Removal', 'string(50)', 'idx', 'DemoSnowRemoval'),
  field('Winter_GeneratorSwitchYN', 'Main', 'Winter', 'Generator Switch', 'boolean', 'idx'),
  field('Winter_HeatingCost', 'Main', 'Winter', 'Heating Cost', 'decimal(10,2)', 'private'),
  field('LakeLiving_DockType', 'Details', 'Lake Living', 'Dock Type', 'string(50)', 'idx', 'DemoDockType'),
  // Renamed: the API name is the one that the field began with.
  field('LakeLiving_AssnDues', 'Details', 'Lake Living', 'Lake Association Dues', 'decimal(10,2)', 'idx'),
  field('LakeLiving_Uses', 'Details', 'Lake Living', 'Water Uses', 'string(50)[]', 'idx', 'DemoWaterUse'),
  field('OfficeUse_KeySafe', 'Details', 'Office Use', 'Key Safe', 'string(25)', 'private'),
  field('OfficeUse_SignOrdered', 'Details', 'Office Use', 'Sign Ordered', 'date', 'private'),
  field('OfficeUse_TeamNotes', 'Details', 'Office Use', 'Team Notes', 'string(500)', 'private'),
];

/** The values of the demo market's own lookups. */
export const CUSTOM_LOOKUPS: readonly LookupDeclaration[] = [
  { lookup: 'DemoSnowRemoval', values: ['Association', 'City', 'Owner', 'Private Road Fund'] },
  { lookup: 'DemoDockType', values: ['Floating', 'Permanent', 'Roll-In', 'Shared'] },
  { lookup: 'DemoWaterUse', values: ['Fishing', 'Motor Boats', 'No Wake', 'Sailing', 'Swimming'] },
  // Types of files that the dictionary's list does not have.
  { lookup: 'MediaType', values: ['svg', 'webp'] },
];

function field(
  name: string,
  section: 'Main' | 'Details',
  group: string,
  label: string,
  type: string,
  visibility: string,
  lookup?: string,
): CustomFieldDeclaration {
  return {
    resource: 'Property',
    name,
    section,
    group,
    label,
    type,
    class: visibility,
    ...(lookup === undefined ? {} : { lookup }),
  };
}
